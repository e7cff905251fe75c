"""The copy of the instructions that evolved."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from memgene.core import StoredConfigError
from memgene.genome import GenomeBundle
from memgene.genome.checking import check_bundle
from memgene.genome.head import Head
from memgene.genome.prompts import Prompts, prompts_of
from memgene.genome.reading import read_head, read_values
from memgene.genome.stored import read_stored, write_folder
from memgene.llm.prompts.answer_styles import ANSWER_STYLES
from memgene.programs.seeds import seed, seed_names
from memgene.retrieval.config import RetrievalConfig

PLAIN = RetrievalConfig()
NAMES = {
    "INSTRUCTION_KNOWLEDGE_ITEM",
    "INSTRUCTION_QUERY",
    "INSTRUCTION_RESPONSE",
    "ALWAYS_ON_KNOWLEDGE",
}


def of(program: str) -> dict[str, str]:
    return dict(prompts_of(PLAIN, program).program)


def test_a_plain_configuration_has_none() -> None:
    assert not prompts_of(PLAIN, None)
    assert prompts_of(PLAIN, None).named() == {}


@pytest.mark.parametrize("name", seed_names())
def test_those_of_a_program_are_the_values_its_constants_have(name: str) -> None:
    source = seed(name).source
    namespace: dict[str, object] = {}
    head = source[: source.index("@dataclass")]  # the constants; ours, and safe to run here
    exec(head, namespace)
    assert of(source) == {each: namespace[each] for each in NAMES}


def test_what_is_not_written_out_is_left_out() -> None:
    assert of('INSTRUCTION_QUERY = "a" "b"') == {"INSTRUCTION_QUERY": "ab"}
    assert of('INSTRUCTION_QUERY: str = "a"') == {"INSTRUCTION_QUERY": "a"}
    assert of('INSTRUCTION_QUERY = "a"\nINSTRUCTION_QUERY = "b"') == {"INSTRUCTION_QUERY": "b"}
    for computed in (
        'INSTRUCTION_QUERY = "a" + "b"',
        'INSTRUCTION_QUERY = f"{1}"',
        'INSTRUCTION_QUERY = b"a"',
        'INSTRUCTION_QUERY = "\\ud800"',
        'INSTRUCTION_QUERY = "a"\nINSTRUCTION_QUERY += "b"',
        'INSTRUCTION_QUERY = "a"\nif True:\n    INSTRUCTION_QUERY = "b"',
        'INSTRUCTION_QUERY = "a"\nfor INSTRUCTION_QUERY in "b": pass',
        'INSTRUCTION_QUERY, other = "ab"',
        'other = INSTRUCTION_QUERY = "a"',
        "this is no Python",
    ):
        assert of(computed) == {}, computed


def test_styles_are_those_in_use_that_are_not_the_default() -> None:
    config = RetrievalConfig(
        answer_style="list",
        per_type={"when": {"answer_style": "date"}, "who": {"answer_style": "concise"}},
    )
    found = prompts_of(config, None)
    assert dict(found.styles) == {name: ANSWER_STYLES[name] for name in ("list", "date")}
    assert set(found.named()) == {"answer_style.list", "answer_style.date"}


def test_the_file_keeps_every_letter() -> None:
    text = 'tabs\tquotes " \\ lines\r\n\u2028 \x01 ünïcode \U0001f40d'
    values = tomllib.loads(Prompts({"INSTRUCTION_QUERY": text}, {}).to_bytes().decode())
    assert values == {"format": 1, "program": {"INSTRUCTION_QUERY": text}}


def resealed(path: Path, prompts: bytes) -> None:
    """Put other prompts into a bundle, whose digests then name them."""
    stored = read_stored(path)
    head = read_head(stored, read_values(stored))
    beside = {n: c for n, c in stored.files.items() if n != "genome.toml"}
    beside["prompts.toml"] = prompts
    fresh = Head.of(head.id, head.origin, beside)
    write_folder(path, {"genome.toml": fresh.to_bytes(), **beside})


def test_a_copy_that_says_other_than_the_program_is_refused(
    tmp_path: Path, full: GenomeBundle
) -> None:
    path = full.save(tmp_path / "g")
    told = Prompts({**full.prompts.program, "INSTRUCTION_QUERY": "Leave."}, full.prompts.styles)
    resealed(path, told.to_bytes())
    with pytest.raises(StoredConfigError, match="other than the program does of INSTRUCTION_QUERY"):
        GenomeBundle.load(path)
    bare = replace(full, program=None).save(tmp_path / "bare")
    resealed(bare, told.to_bytes())
    with pytest.raises(StoredConfigError, match="other than the program"):
        GenomeBundle.load(bare)


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"format =", b"format = 2\n", b"format = 1\nprogram = 3\n", b"format = 1\nmore = 1\n",
     b"format = 1\n[program]\nINSTRUCTION_QUERY = 1\n"],
)  # fmt: skip
def test_a_copy_of_another_shape_is_refused(
    tmp_path: Path, full: GenomeBundle, content: bytes
) -> None:
    path = full.save(tmp_path / "g")
    resealed(path, content)
    with pytest.raises(StoredConfigError, match=r"prompts\.toml"):
        GenomeBundle.load(path)


def test_words_of_a_style_that_have_changed_since_are_noted(
    tmp_path: Path, full: GenomeBundle
) -> None:
    path = full.save(tmp_path / "g")
    assert check_bundle(path).notes == ()
    resealed(path, Prompts(full.prompts.program, {"list": "As a list."}).to_bytes())
    checked = check_bundle(path)
    assert checked.whole
    assert [note.split(" has ")[0] for note in checked.notes] == ["answer style list"]


def test_a_bundle_without_the_copy_is_whole_too(tmp_path: Path, full: GenomeBundle) -> None:
    """As another version may store it, which knows no such instruction."""
    path = full.save(tmp_path / "g")
    stored = read_stored(path)
    head = read_head(stored, read_values(stored))
    kept = {n: c for n, c in stored.files.items() if n not in ("genome.toml", "prompts.toml")}
    write_folder(path, {"genome.toml": Head.of(head.id, head.origin, kept).to_bytes(), **kept})
    assert "prompts.toml" not in read_stored(path).files
    assert GenomeBundle.load(path) == full
