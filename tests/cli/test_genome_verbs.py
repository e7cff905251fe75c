"""memgene genome show|diff|verify|pack|key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from memgene.genome import GenomeBundle, Score
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage

Run = Callable[..., Result]
Ask = Callable[..., Any]
FIXTURES = Path(__file__).parents[1] / "genome" / "fixtures"

STAGE = 'KIND = "query"\nABOUT = "asks twice"\nTREATS = ["multi_hop"]\n'
GENOME = GenomeBundle(
    config=RetrievalConfig(window=2, answer_style="list").with_stage(Stage("twice", STAGE), 1.0),
    embedder="hashing",
    strategy="joint",
    parents=("0123456789ab",),
    scores={"test/f1": Score(0.5, 0.25, 0.75, 8)},
    fingerprints={"demo": "abc"},
    provenance={"seed": 1},
    program='INSTRUCTION_QUERY = "Ask."\n',
)


@pytest.fixture
def best(here: Path) -> Path:
    return GENOME.save(here / "best")


@pytest.fixture
def key(ask: Ask, here: Path) -> str:
    """The public half of the key in the file `key`."""
    made = ask("genome", "key", "key")
    assert made["path"] == "key"
    assert (here / "key.pub").read_text().strip() == made["public_key"]
    return str(made["public_key"])


@pytest.mark.usefixtures("best")
def test_show_tells_origin_scores_parts_and_sizes(ask: Ask, run: Run) -> None:
    found = ask("genome", "show", "best")
    assert found["id"] == GENOME.id
    assert found["content"] == GENOME.content
    assert found["format"] == 2
    assert found["bytes"] == sum(map(len, GENOME.files().values()))
    assert set(found["files"]) == set(GENOME.files())
    assert found["scores"] == {"test/f1": {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 8}}
    assert found["changed"]["window"] == [RetrievalConfig().window, 2]
    assert found["stages"] == [
        {
            "name": "twice",
            "kind": "query",
            "strength": 1.0,
            "about": "asks twice",
            "treats": ["multi_hop"],
            "digest": GENOME.config.stages[0].stage.digest,
        }
    ]
    assert set(found["prompts"]) == {"program.INSTRUCTION_QUERY", "answer_style.list"}
    assert found["program"]["lines"] == 1
    assert (found["router"], found["memory"], found["signature"]) == (None, None, None)

    text = run("genome", "show", "best").stdout
    for said in (GENOME.id, GENOME.content, "50.0 [25.0, 75.0], 8 questions", "asks twice",
                 "signed by                nobody", "stages/twice.py"):  # fmt: skip
        assert said in text


def test_show_tells_of_router_and_learning(ask: Ask, run: Run) -> None:
    path = str(FIXTURES / "format-1-memory")
    found = ask("genome", "show", path)
    assert found["memory"] == {"values": 2, "distilled": 1, "retired": 1, "kinds": 0}
    assert found["router"]["routes"] == ["dense", "sparse"]
    assert found["router"]["trained"] is True
    assert (found["format"], found["content"]) == (1, None)
    assert "2 values, 1 distilled and 1 retired memories" in run("genome", "show", path).stdout


def test_a_terminal_is_not_written_to_by_a_bundle(run: Run, here: Path) -> None:
    about = 'KIND = "query"\nABOUT = "\\x1b[2Jcleared"\n'
    config = RetrievalConfig().with_stage(Stage("evil", about), 1.0)
    told = {"note": "a\x1b]0;title\x07"}
    replace(GENOME, config=config, provenance=told, program="#\x1b[1m\n").save(here / "evil")
    GENOME.save(here / "best")
    for arguments in (("show", "evil"), ("verify", "evil"), ("diff", "best", "evil")):
        result = run("genome", *arguments)
        assert result.exit_code == 0
        assert "\x1b" not in result.stdout
        assert "\x07" not in result.stdout


@pytest.mark.usefixtures("best")
@pytest.mark.parametrize("form", ["out.memgene", "out.zip", "out"])
def test_a_genome_is_packed_signed_and_believed(ask: Ask, run: Run, key: str, form: str) -> None:
    packed = ask("genome", "pack", "best", form, "--sign", "key")
    assert packed["path"] == form
    assert packed["signer"] == key
    assert packed["migrated_from"] is None
    for given in (key, "key.pub"):
        checked = ask("genome", "verify", form, "--key", given)
        assert checked["ok"] is True
        assert checked["id"] == GENOME.id
        assert checked["signature"]["true"] is True
        assert checked["deviations"] == checked["problems"] == []
    assert key in run("genome", "verify", form).stdout
    assert ask("genome", "show", form)["signature"]["signer"] == key


def test_verify_names_every_file_that_differs(ask: Ask, run: Run, best: Path) -> None:
    (best / "program.py").write_text("pass\n")
    (best / "stages" / "twice.py").unlink()
    (best / "notes.md").write_text("ours")
    checked = ask("genome", "verify", "best", code=1)
    assert checked["ok"] is False
    assert {each["file"]: each["how"] for each in checked["deviations"]} == {
        "program.py": "changed",
        "stages/twice.py": "missing",
        "notes.md": "extra",
    }
    result = run("genome", "verify", "best")
    assert result.exit_code == 1
    assert "stages/twice.py is missing" in result.stdout


@pytest.mark.usefixtures("best", "key")
def test_verify_with_a_key_refuses_another_signer_and_none(ask: Ask) -> None:
    ask("genome", "pack", "best", "g.memgene", "--sign", "key")
    other = ask("genome", "key", "other")["public_key"]
    (problem,) = ask("genome", "verify", "g.memgene", "--key", "other.pub", code=1)["problems"]
    assert "is signed by" in problem
    assert other in problem
    (problem,) = ask("genome", "verify", "best", "--key", other, code=1)["problems"]
    assert "is not signed" in problem


def test_verify_loads_the_embedder(ask: Ask, here: Path) -> None:
    replace(GENOME, embedder="no-such-embedder").save(here / "g")
    (problem,) = ask("genome", "verify", "g", code=1)["problems"]
    assert "no-such-embedder" in problem


def test_older_formats_are_migrated(ask: Ask, run: Run, here: Path) -> None:
    source = str(FIXTURES / "format-1-program")
    assert "memgene genome pack" in run("genome", "verify", source).stdout
    packed = ask("genome", "pack", source, "new.memgene")
    assert packed["migrated_from"] == 1
    assert packed["id"] == ask("genome", "show", "new.memgene")["id"] == "93722f2ce7de"
    assert ask("genome", "diff", source, "new.memgene")["same"] is True


def test_a_newer_format_is_refused_with_what_to_do(run: Run, best: Path) -> None:
    head = best / "genome.toml"
    head.write_text(head.read_text().replace("format = 2", "format = 3"))
    for arguments in (("show", "best"), ("pack", "best", "out.memgene")):
        result = run("genome", *arguments)
        assert result.exit_code == 1
        assert "format 3; this version reads 1 and 2: upgrade memgene" in result.stderr
    assert "upgrade memgene" in run("genome", "verify", "best").stdout


@pytest.mark.usefixtures("best")
def test_diff_tells_levers_stages_program_and_scores(ask: Ask, run: Run, here: Path) -> None:
    changed = replace(
        GENOME,
        config=RetrievalConfig(window=3).with_stage(Stage("twice", STAGE), 0.5),
        program='INSTRUCTION_QUERY = "Ask twice."\n',
        scores={"test/f1": Score(0.75, 0.5, 1.0, 8)},
    )
    changed.save(here / "other.zip")
    found = ask("genome", "diff", "best", "other.zip")
    assert found["ids"] == [GENOME.id, changed.id]
    assert found["same"] is False
    assert {"name": "window", "a": 2, "b": 3} in found["levers"]
    assert found["stages"] == [{"name": "twice", "a": 1.0, "b": 0.5, "patch": ""}]
    assert '-INSTRUCTION_QUERY = "Ask."\n+INSTRUCTION_QUERY = "Ask twice."' in found["program"]
    assert found["router"] == found["memory"] == "absent"
    assert found["scores"][0]["b"]["mean"] == 0.75

    text = run("genome", "diff", "best", "other.zip").stdout
    for said in ("window", "75.0 [50.0, 100.0], 8 questions", '+INSTRUCTION_QUERY = "Ask twice."'):
        assert said in text
    assert "both do the same" in run("genome", "diff", "best", "best").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("show", "absent"), 1, "no genome bundle at absent"),
        (("verify", "absent"), 1, "no genome bundle at absent"),
        (("pack", "best", "."), 2, "no part of a genome"),
        (("pack", "best", "o.zip", "--sign", "absent"), 1, "memgene genome key"),
        (("verify", "best", "--key", "ed25519:x"), 2, "no public key"),
        (("key", "best"), 2, "is there already"),
        (("diff", "best"), 2, ""),
    ],
)
@pytest.mark.usefixtures("best")
def test_what_cannot_be_done_is_said(
    run: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = run("genome", *arguments)
    assert result.exit_code == code
    assert said in result.stderr


@pytest.mark.usefixtures("best", "key")
def test_the_private_half_is_in_its_file_alone(run: Run, here: Path) -> None:
    secret = (here / "key").read_text().splitlines()[1]
    told = [run("genome", "key", "second").stdout, run("genome", "key", "third", "--json").stdout]
    packed = run("genome", "pack", "best", "g", "--sign", "key").stdout
    files = [file.read_text() for file in (here / "g").rglob("*") if file.is_file()]
    assert not any(secret in text for text in (*told, packed, *files))
    assert tomllib.loads((here / "g" / "signature.toml").read_text())["format"] == 1
    second = (here / "second").read_text().splitlines()[1]
    assert second not in told[0]


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("form", ["g", "g.memgene", "g.zip"])
def test_a_packed_genome_serves(ask: Ask, here: Path, form: str) -> None:
    GenomeBundle(RetrievalConfig(fusion="rrf"), "hashing", "config").save(here / "plain")
    ask("genome", "pack", "plain", form, "--sign", "key")
    for text in ("Pears are ripe.", "The cat is called Tom."):
        ask("add", text, "--db", "m.db", "--user-id", "ann", "--embedder", "hashing")
    asked = ("search", "What is the cat called?", "--db", "m.db", "--user-id", "ann")
    served = ask(*asked, "--genome", form)
    assert served == ask(*asked, "--genome", "plain")
    assert served != ask(*asked, "--embedder", "hashing")
