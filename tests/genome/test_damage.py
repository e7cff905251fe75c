"""Any byte of a bundle flipped: it is refused, or it is the same genome."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import StoredConfigError
from memgene.engine.learned import LearnedMemory
from memgene.genome import GenomeBundle, Score
from memgene.genome.keys import make_key, read_signer
from memgene.genome.packing import pack_bundle
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage

ROUTES = ("dense", "sparse")
STAGE = Stage("echo", 'KIND = "query"\nABOUT = "asks twice"\n')
BUNDLE = GenomeBundle(
    config=RetrievalConfig(
        fusion="q_rrf", answer_style="date", router=Router.fresh(ROUTES, features_of(ROUTES))
    ).with_stage(STAGE, 1.0),
    embedder="hashing",
    strategy="joint",
    scores={"test/f1": Score(0.5, 0.25, 0.75, 8)},
    provenance={"seed": 1},
    program='INSTRUCTION_QUERY = "Ask."\n',
    memory=LearnedMemory(),
)
FLIPS = st.integers(1, 255)


@cache
def signed() -> tuple[bytes, Mapping[str, bytes]]:
    """The bundle, signed, as one file and as the files of a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_key(folder / "key")
        signer = read_signer(folder / "key")
        BUNDLE.save(folder / "plain")
        pack_bundle(folder / "plain", folder / "g.memgene", signer)
        pack_bundle(folder / "plain", folder / "g", signer)
        files = {
            str(file.relative_to(folder / "g")): file.read_bytes()
            for file in sorted((folder / "g").rglob("*"))
            if file.is_file()
        }
        return (folder / "g.memgene").read_bytes(), files


def refused_or_equal(path: Path) -> None:
    try:
        found = GenomeBundle.load(path)
    except StoredConfigError:
        return
    assert found == BUNDLE
    assert found.id == BUNDLE.id


@settings(max_examples=300, deadline=None)
@given(data=st.data(), flip=FLIPS)
def test_a_flipped_byte_of_an_archive(data: st.DataObject, flip: int) -> None:
    whole = bytearray(signed()[0])
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= flip
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "g.memgene"
        path.write_bytes(whole)
        refused_or_equal(path)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), flip=FLIPS)
def test_a_flipped_byte_of_a_file(data: st.DataObject, flip: int) -> None:
    files = signed()[1]
    struck = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[struck])
    content[data.draw(st.integers(0, len(content) - 1))] ^= flip
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        (path / "stages").mkdir()
        for each, known in files.items():
            (path / each).write_bytes(content if each == struck else known)
        refused_or_equal(path)


@pytest.mark.parametrize(
    "change",
    [
        {"scores": {"test/f1": Score(0.9, 0.25, 0.75, 8)}},
        {"provenance": {"seed": 2}},
        {"strategy": "config"},
        {"parents": ("0123456789ab",)},
        {"fingerprints": {"demo": "x"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_is_said_of_a_genome_is_part_of_its_content(change: dict[str, object]) -> None:
    other = replace(BUNDLE, **change)  # type: ignore[arg-type]
    assert other.id == BUNDLE.id
    assert other.content != BUNDLE.content


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1), NUMBERS, st.booleans())


@settings(max_examples=100, deadline=None)
@given(
    strategy=TEXTS,
    parents=st.lists(TEXTS, max_size=3).map(tuple),
    fingerprints=st.dictionaries(TEXTS, TEXTS, max_size=3),
    provenance=st.dictionaries(
        TEXTS,
        st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1), NUMBERS, st.booleans()),
        max_size=3,
    ),
    scores=st.dictionaries(
        TEXTS, st.builds(Score, NUMBERS, NUMBERS, NUMBERS, st.integers(0, 10**9)), max_size=3
    ),
    program=st.one_of(st.none(), TEXTS, TEXTS.map(lambda text: f"INSTRUCTION_QUERY = {text!r}\n")),
)
def test_whatever_is_said_of_a_genome_is_read_as_it_was_said(**said: object) -> None:
    bundle = replace(BUNDLE, **said)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as name:
        for form in ("g", "g.memgene"):
            path = bundle.save(Path(name) / form)
            loaded = GenomeBundle.load(path)
            assert loaded == bundle
            assert loaded.content == bundle.content
            assert loaded.files() == bundle.files()
