"""The genome bundle: a folder or a zip with equal bytes for equal content, checked when loaded."""

from __future__ import annotations

import hashlib
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from memgene.bank.protocol import Value
from memgene.core import ConfigError, InputError, NotFoundError, StoredConfigError
from memgene.engine.learned import LearnedMemory
from memgene.genome import GenomeBundle, Score, read_config
from memgene.genome.head import content_of
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.router import Router

RANKER = Ranker({"bm25": 1.5, "dense@-1": -0.25}, {"bm25": 0.1, "dense@-1": 0.0},
                {"bm25": 2.0, "dense@-1": 1.0}, "evidence", 12)  # fmt: skip
BUNDLE = GenomeBundle(
    config=RetrievalConfig(
        fusion="learned", window=2, ranker=RANKER, per_type={"when": {"recency_weight": 0.5}}
    ),
    embedder="static",
    strategy="config",
    parents=("0123456789ab",),
    scores={"test/recall@10": Score(0.8, 0.7, 0.9, 120), "val/recall@10": Score(0.7, 0.6, 0.8, 60)},
    fingerprints={"locomo": "abc", "demo": "déf"},
    provenance={"seed": 3, "strict": False, "version": "0.1.0", "threshold": 0.005},
)
Save = Callable[[GenomeBundle, str], Path]


@pytest.fixture(params=["", ".zip", ".memgene"], ids=["folder", "zip", "memgene"])
def save(request: pytest.FixtureRequest, tmp_path: Path) -> Save:
    """Saves a bundle under a name, as a folder or as a zip."""
    return lambda bundle, name: bundle.save(tmp_path / f"{name}{request.param}")


def rewritten(path: Path, name: str, change: Callable[[str], str]) -> None:
    """Edit one file of a bundle."""
    if path.is_dir():
        file = path / name
        file.write_text(change(file.read_text()))
        return
    with zipfile.ZipFile(path) as archive:
        contents = {n: archive.read(n).decode() for n in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for n, text in contents.items():
            archive.writestr(n, change(text) if n == name else text)


def without(path: Path, name: str) -> None:
    if path.is_dir():
        (path / name).unlink()
        return
    with zipfile.ZipFile(path) as archive:
        kept = {n: archive.read(n) for n in archive.namelist() if n != name}
    with zipfile.ZipFile(path, "w") as archive:
        for n, content in kept.items():
            archive.writestr(n, content)


def test_what_is_saved_can_be_loaded(save: Save) -> None:
    path = save(BUNDLE, "best")
    loaded = GenomeBundle.load(path)
    assert loaded == BUNDLE
    assert loaded.id == BUNDLE.id


def test_a_bare_bundle_survives_too(save: Save) -> None:
    bare = GenomeBundle(RetrievalConfig(), "hashing", "config")
    assert GenomeBundle.load(save(bare, "bare")) == bare


def test_equal_content_gives_equal_bytes(save: Save) -> None:
    mixed = replace(
        BUNDLE,
        scores=dict(reversed(BUNDLE.scores.items())),
        fingerprints=dict(reversed(BUNDLE.fingerprints.items())),
        provenance=dict(reversed(BUNDLE.provenance.items())),
    )
    assert mixed == BUNDLE
    one, other = save(BUNDLE, "one"), save(mixed, "other")
    again = save(GenomeBundle.load(one), "again")
    if one.is_file():
        assert one.read_bytes() == other.read_bytes() == again.read_bytes()
    else:
        for name in ("genome.toml", "retrieval.toml"):
            found = {(p / name).read_bytes() for p in (one, other, again)}
            assert len(found) == 1


def test_a_folder_and_a_zip_hold_the_same_files(tmp_path: Path) -> None:
    folder, zipped = BUNDLE.save(tmp_path / "best"), BUNDLE.save(tmp_path / "deep" / "best.zip")
    with zipfile.ZipFile(zipped) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    outside = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert inside == outside == BUNDLE.files()
    assert set(inside) == {"genome.toml", "retrieval.toml"}


def test_every_file_of_ours_carries_its_format() -> None:
    verbose = replace(BUNDLE, config=BUNDLE.config.changed(answer_style="list"))
    formats = {
        name: tomllib.loads(content.decode())["format"] for name, content in verbose.files().items()
    }
    assert formats == {"genome.toml": 2, "retrieval.toml": 1, "prompts.toml": 1}


def test_saving_again_replaces_the_bundle_that_is_there(tmp_path: Path) -> None:
    path = GROWN.save(tmp_path / "best")
    (path / ".notes").write_text("not looked at")
    BUNDLE.save(path)
    assert GenomeBundle.load(path) == BUNDLE
    assert sorted(p.name for p in path.iterdir()) == [".notes", "genome.toml", "retrieval.toml"]


def test_a_folder_of_other_things_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("kept")
    with pytest.raises(InputError, match=r"holds notes\.md, which is no part of a genome"):
        BUNDLE.save(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.md"]


def test_the_id_names_what_decides_behaviour() -> None:
    assert len(BUNDLE.id) == 12
    assert replace(BUNDLE, scores={}, parents=(), provenance={}).id == BUNDLE.id
    assert replace(BUNDLE, embedder="hashing").id != BUNDLE.id
    assert replace(BUNDLE, config=BUNDLE.config.changed(window=1)).id != BUNDLE.id
    weights = replace(RANKER, weight={"bm25": 1.5, "dense@-1": -0.26})
    assert replace(BUNDLE, config=BUNDLE.config.changed(ranker=weights)).id != BUNDLE.id


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("retrieval.toml", "window = 2", "window = 3"),
        ("retrieval.toml", "bm25 = 1.5", "bm25 = 1.4"),
        ("genome.toml", 'embedder = "static"', 'embedder = "hashing"'),
    ],
)
def test_an_edited_bundle_is_refused(save: Save, name: str, old: str, new: str) -> None:
    path = save(BUNDLE, "edited")

    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    rewritten(path, name, edit)
    with pytest.raises(ConfigError, match="it was edited") as refusal:
        GenomeBundle.load(path)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize(
    ("found", "advice"), [("3", "upgrade memgene"), ("0", "get it anew"), ('"2"', "get it anew")]
)
def test_a_format_that_is_not_known_is_refused(save: Save, found: str, advice: str) -> None:
    path = save(BUNDLE, "newer")
    rewritten(path, "genome.toml", lambda text: text.replace("format = 2", f"format = {found}", 1))
    with pytest.raises(StoredConfigError, match="this version reads 1 and 2") as refusal:
        GenomeBundle.load(path)
    assert advice in str(refusal.value)
    assert f"format {found}".replace('"', "'") in str(refusal.value)


@pytest.mark.parametrize("name", ["genome.toml", "retrieval.toml"])
def test_a_missing_file_is_named(save: Save, name: str) -> None:
    path = save(BUNDLE, "cut")
    without(path, name)
    with pytest.raises(NotFoundError, match=name):
        GenomeBundle.load(path)


@pytest.mark.parametrize("name", ["genome.toml", "retrieval.toml"])
@pytest.mark.parametrize("damage", ["format = ", "\udcff"])
def test_a_damaged_file_is_refused(save: Save, name: str, damage: str) -> None:
    path = save(BUNDLE, "damaged")
    raw = damage.encode("utf-8", "surrogateescape")
    if path.is_dir():
        (path / name).write_bytes(raw)
    else:
        with zipfile.ZipFile(path) as archive:
            contents = {n: archive.read(n) for n in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for n, content in contents.items():
                archive.writestr(n, raw if n == name else content)
    with pytest.raises(StoredConfigError):
        GenomeBundle.load(path)


@pytest.mark.parametrize("key", ["id", "embedder", "strategy", "parents", "scores"])
def test_a_missing_entry_is_damage(save: Save, key: str) -> None:
    path = save(GenomeBundle(RetrievalConfig(), "hashing", "config"), "damaged")
    rewritten(path, "genome.toml", lambda text: text.replace(f"\n{key} =", f"\nx{key} =")
              .replace(f"[{key}]", f"[x{key}]"))  # fmt: skip
    with pytest.raises(ConfigError, match="damaged"):
        GenomeBundle.load(path)


def test_a_score_of_another_shape_is_damage(save: Save) -> None:
    path = save(BUNDLE, "damaged")
    rewritten(path, "genome.toml", lambda text: text.replace("low =", "lowest ="))
    with pytest.raises(ConfigError, match="damaged"):
        GenomeBundle.load(path)
    listed = GenomeBundle(RetrievalConfig(), "hashing", "config").save(path.parent / "listed")
    rewritten(listed, "genome.toml", lambda text: text.replace("[scores]", "") + "scores = 3\n")
    with pytest.raises(ConfigError, match="damaged"):
        GenomeBundle.load(listed)


def test_a_zip_with_a_flipped_byte_is_refused(tmp_path: Path) -> None:
    path = BUNDLE.save(tmp_path / "best.zip")
    whole = path.read_bytes()
    start = whole.index(b"genome.toml") + len("genome.toml")
    for place in range(start, start + 60, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with pytest.raises(StoredConfigError, match="damaged"):
            GenomeBundle.load(path)


# -- what is no bundle


def test_an_edited_id_is_refused(save: Save) -> None:
    path = save(BUNDLE, "renamed")
    rewritten(path, "genome.toml", lambda text: text.replace(BUNDLE.id, "0" * 12))
    with pytest.raises(StoredConfigError, match="it was edited"):
        GenomeBundle.load(path)


def test_nothing_there_and_no_bundle_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no genome bundle at"):
        GenomeBundle.load(tmp_path / "never")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match="not a genome bundle"):
        GenomeBundle.load(tmp_path / "empty")
    text = tmp_path / "text.zip"
    text.write_text("hello")
    with pytest.raises(ConfigError, match="not a zip file"):
        GenomeBundle.load(text)


# -- with an evolved program

SOURCE = 'INSTRUCTION_QUERY = "Wer wär’s?"\r\nraise SystemExit("never run here")\n'
PROGRAM = replace(BUNDLE, strategy="program", config=RetrievalConfig(), program=SOURCE)


def test_a_program_is_kept_to_the_letter(save: Save) -> None:
    loaded = GenomeBundle.load(save(PROGRAM, "g"))
    assert loaded == PROGRAM
    assert loaded.program == SOURCE
    assert PROGRAM.files()["program.py"] == SOURCE.encode()


def test_a_program_counts_in_the_id() -> None:
    other = replace(PROGRAM, program=SOURCE + "\n")
    bare = replace(PROGRAM, program=None)
    assert len({PROGRAM.id, other.id, bare.id}) == 3
    assert set(bare.files()) == {"genome.toml", "retrieval.toml"}


def test_an_edited_program_is_refused(save: Save) -> None:
    path = save(PROGRAM, "g")
    rewritten(path, "program.py", lambda text: text + "# more\n")
    with pytest.raises(StoredConfigError, match="was edited"):
        GenomeBundle.load(path)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    path = PROGRAM.save(tmp_path / "g")
    (path / "program.py").unlink()
    with pytest.raises(NotFoundError, match=r"has no program\.py"):
        GenomeBundle.load(path)


# -- with a router and what was learned

ROUTES = ("dense", "sparse")
FRESH = Router.fresh(ROUTES, features_of(ROUTES))
ROUTER = replace(FRESH, arrays={**FRESH.arrays, "head_bias": np.array([0.5, -0.5])})
LEARNED = LearnedMemory(values=(Value("u1", "", 0.75, 3), Value("u2", "k", 0.25, 1)))
GROWN = replace(
    BUNDLE,
    strategy="coevolve",
    config=RetrievalConfig(fusion="q_rrf", self_routing="rules", router=ROUTER),
    memory=LEARNED,
)


def test_router_and_learning_are_files_of_their_own(save: Save) -> None:
    assert list(GROWN.files()) == ["genome.toml", "retrieval.toml", "router.npz", "memory.jsonl"]
    assert GROWN.files()["router.npz"] == ROUTER.to_bytes()
    loaded = GenomeBundle.load(save(GROWN, "grown"))
    assert loaded.config == GROWN.config
    assert loaded.config.router == ROUTER
    assert loaded.memory is not None
    assert loaded.memory.to_jsonl() == LEARNED.to_jsonl()
    assert loaded.id == GROWN.id
    assert loaded.files() == GROWN.files()


def test_a_program_may_have_a_router_too(save: Save) -> None:
    both = replace(PROGRAM, config=GROWN.config)
    assert list(both.files())[2:] == ["prompts.toml", "program.py", "router.npz"]
    assert GenomeBundle.load(save(both, "both")) == both


def test_router_and_learning_count_in_the_id() -> None:
    untrained = replace(GROWN, config=GROWN.config.changed(router=FRESH))
    without = replace(GROWN, config=GROWN.config.changed(router=None))
    taught = replace(GROWN, memory=LearnedMemory(values=LEARNED.values[:1]))
    bare = replace(GROWN, memory=None)
    assert len({each.id for each in (GROWN, untrained, without, taught, bare)}) == 5


@pytest.mark.parametrize("name", ["router.npz", "memory.jsonl"])
def test_a_part_that_is_missing_is_named(save: Save, name: str) -> None:
    path = save(GROWN, "grown")
    if path.is_file():
        with zipfile.ZipFile(path) as archive:
            kept = {n: archive.read(n) for n in archive.namelist() if n != name}
        with zipfile.ZipFile(path, "w") as archive:
            for n, content in kept.items():
                archive.writestr(n, content)
    else:
        (path / name).unlink()
    with pytest.raises(NotFoundError, match=name):
        GenomeBundle.load(path)


@pytest.mark.parametrize("name", ["retrieval.toml", "router.npz", "memory.jsonl"])
def test_a_part_that_was_changed_is_refused(tmp_path: Path, name: str) -> None:
    path = GROWN.save(tmp_path / "grown")
    (path / name).write_bytes((path / name).read_bytes() + b"\n")
    with pytest.raises(StoredConfigError, match=f"{name} is changed"):
        GenomeBundle.load(path)


# -- whole bundles, by their digests, of parts that do not fit


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("retrieval.toml", b"format = 2\n", r"retrieval\.toml: .*format 2; this version reads 1"),
        ("retrieval.toml", b"format = 1\nwindow = 2\n", "names no router"),
        ("retrieval.toml", b"format = 1\nstages = 3\n", "must be a table"),
        ("retrieval.toml", b'format = 1\nstages = {"../x" = 1}\n', "no name of one"),
        ("retrieval.toml", b"format = 1\nwindow = [" + b"[" * 9000, r"retrieval\.toml"),
        ("router.npz", b"PK no router", r"router\.npz"),
        ("router.npz", FRESH.to_bytes(), "names router"),
        ("memory.jsonl", b"{}", r"memory\.jsonl"),
        ("memory.jsonl", b"\xff", r"memory\.jsonl is damaged"),
        ("memory.jsonl", b"[" * 90_000, r"memory\.jsonl"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    path = consistent(tmp_path / "grown", {**GROWN.files(), name: content})
    with pytest.raises(StoredConfigError, match=why):
        GenomeBundle.load(path)


def consistent(path: Path, files: dict[str, bytes]) -> Path:
    """A bundle whose manifest names these files, as somebody who means harm would make it."""
    values = tomllib.loads(files["genome.toml"].decode())
    beside = {name: content for name, content in files.items() if name != "genome.toml"}
    values["files"] = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in beside.items()
    }
    values["content"] = content_of(values)
    path.mkdir()
    (path / "genome.toml").write_bytes(tomli_w.dumps(values).encode())
    for name, content in beside.items():
        (path / name).write_bytes(content)
    return path


def test_saving_a_bundle_without_a_router_over_one_with_it(tmp_path: Path) -> None:
    path = GROWN.save(tmp_path / "best")
    BUNDLE.save(path)
    assert GenomeBundle.load(path) == BUNDLE


# -- a configuration file with the router beside it


def test_a_configuration_is_read_with_the_router_beside_it(tmp_path: Path) -> None:
    GROWN.save(tmp_path / "grown")
    assert read_config(tmp_path / "grown" / "retrieval.toml") == GROWN.config
    BUNDLE.save(tmp_path / "plain")
    assert read_config(tmp_path / "plain" / "retrieval.toml") == BUNDLE.config


def test_what_keeps_it_from_being_read_is_told(tmp_path: Path) -> None:
    file = GROWN.save(tmp_path / "grown") / "retrieval.toml"
    (file.parent / "router.npz").write_bytes(FRESH.to_bytes())
    with pytest.raises(ConfigError, match=f"names router {ROUTER.digest}, and router"):
        read_config(file)
    (file.parent / "router.npz").unlink()
    with pytest.raises(NotFoundError, match=r"names a router, and there is no .*router\.npz"):
        read_config(file)
    file.write_bytes(b"\xff")
    with pytest.raises(StoredConfigError, match="damaged"):
        read_config(file)
    file.unlink()
    with pytest.raises(NotFoundError, match="no configuration at"):
        read_config(file)
