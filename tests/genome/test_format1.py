"""Bundles of format 1: they load as they were meant, migrate, and are refused when edited."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from memgene.core import NotFoundError, StoredConfigError
from memgene.genome import GenomeBundle, Score
from memgene.genome.packing import pack_bundle
from memgene.retrieval.config import RetrievalConfig

NAMES = ("format-1-config", "format-1-program", "format-1-memory", "format-1-memory.zip")


def test_they_hold_what_was_stored(fixtures: Path) -> None:
    config = GenomeBundle.load(fixtures / "format-1-config")
    assert config.config.window == 2
    assert config.config.ranker is not None
    assert config.config.ranker.weight == {"bm25": 1.5, "dense@-1": -0.25}
    assert config.config.per_type == {"when": {"recency_weight": 0.5}}
    assert config.scores["test/recall@10"] == Score(0.8, 0.7, 0.9, 120)
    assert config.fingerprints == {"demo": "déf"}
    assert config.provenance == {"seed": 3, "strict": False, "threshold": 0.005}

    program = GenomeBundle.load(fixtures / "format-1-program")
    assert program.program == (fixtures / "format-1-program" / "program.py").read_text()
    assert program.config.router is not None

    memory = GenomeBundle.load(fixtures / "format-1-memory")
    assert memory.memory is not None
    assert [(v.unit_id, v.q, v.exposures) for v in memory.memory.values] == [
        ("u1", 0.75, 3),
        ("u2", 0.25, 1),
    ]
    assert memory.parents == (program.id,)


@pytest.mark.parametrize("name", NAMES)
def test_they_migrate_to_this_format_and_stay_the_same_genome(
    fixtures: Path, tmp_path: Path, name: str
) -> None:
    old = GenomeBundle.load(fixtures / name)
    packed = pack_bundle(fixtures / name, tmp_path / "new.memgene")
    assert packed.migrated_from == 1
    new = GenomeBundle.load(tmp_path / "new.memgene")
    assert new == old
    assert new.id == old.id == packed.id
    assert pack_bundle(tmp_path / "new.memgene", tmp_path / "again").migrated_from is None
    assert (tmp_path / "again" / "genome.toml").read_text().startswith("format = 2\n")


def test_files_that_it_does_not_list_are_no_part_of_it(fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "old"
    shutil.copytree(fixtures / "format-1-config", path)
    shutil.copy(fixtures / "format-1-memory" / "router.npz", path)
    (path / "notes.md").write_text("ours")
    assert GenomeBundle.load(path) == GenomeBundle.load(fixtures / "format-1-config")


@pytest.mark.parametrize("part", ["program.py", "router.npz"])
def test_a_part_that_is_changed_or_missing_is_told(
    fixtures: Path, tmp_path: Path, part: str
) -> None:
    path = tmp_path / "old"
    shutil.copytree(fixtures / "format-1-program", path)
    content = bytearray((path / part).read_bytes())
    content[len(content) // 2] ^= 1
    (path / part).write_bytes(content)
    with pytest.raises(StoredConfigError):
        GenomeBundle.load(path)
    (path / part).unlink()
    with pytest.raises(NotFoundError, match=part):
        GenomeBundle.load(path)


@pytest.mark.parametrize("name", ["format-1-config", "format-1-memory"])
def test_an_edited_id_is_refused(fixtures: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "old"
    shutil.copytree(fixtures / name, path)
    head = path / "genome.toml"
    text = head.read_text(encoding="utf-8")
    found = GenomeBundle.load(path).id
    head.write_text(text.replace(f'id = "{found}"', f'id = "{"0" * 12}"'), encoding="utf-8")
    with pytest.raises(StoredConfigError, match="it was edited"):
        GenomeBundle.load(path)


def test_comments_and_line_ends_of_the_configuration_are_no_edit(
    fixtures: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old"
    shutil.copytree(fixtures / "format-1-config", path)
    file = path / "retrieval.toml"
    file.write_bytes(b"# ours\r\n" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert GenomeBundle.load(path) == GenomeBundle.load(fixtures / "format-1-config")


# -- the first versions, which knew fewer levers and hashed all of them into the id


def stored_by_hand(folder: Path, retrieval: str, **head: str) -> Path:
    """A bundle as another version wrote it, embedder `hashing`."""
    folder.mkdir()
    (folder / "retrieval.toml").write_text(retrieval)
    lines = [f'{name} = "{value}"' for name, value in head.items()]
    (folder / "genome.toml").write_text(
        "format = 1\n" + "\n".join(lines) + '\nstrategy = "config"\nembedder = "hashing"\n'
        "parents = []\n[fingerprints]\n[provenance]\n[scores]\n"
    )
    return folder


def hashed(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


FEWER = "format = 1\nlexical_k = 60\nwindow = 2\ncontext_k = 10\n"
"""A configuration of a version that knew three levers."""


def test_a_bundle_from_before_a_lever_was_there_still_loads(tmp_path: Path) -> None:
    mine = GenomeBundle(RetrievalConfig(window=2), "hashing", "config")
    old = stored_by_hand(
        tmp_path / "old", FEWER, id=mine.id, content=hashed(mine.id, FEWER, "hashing")
    )
    loaded = GenomeBundle.load(old)
    assert loaded == mine
    assert loaded.config.decomposition is False


def test_a_bundle_whose_id_named_all_its_levers_still_loads(tmp_path: Path) -> None:
    first = stored_by_hand(tmp_path / "first", FEWER, id=hashed(FEWER, "hashing"))
    loaded = GenomeBundle.load(first)
    assert loaded.config == RetrievalConfig(window=2)
    again = loaded.save(tmp_path / "again")
    assert GenomeBundle.load(again).id == loaded.id


@pytest.mark.parametrize("with_content", [True, False])
@pytest.mark.parametrize("edit", [("window = 2", "window = 3"), ("context_k = 10\n", "")])
def test_it_is_refused_when_it_was_edited(
    tmp_path: Path, with_content: bool, edit: tuple[str, str]
) -> None:
    mine = GenomeBundle(RetrievalConfig(window=2), "hashing", "config")
    head = (
        {"id": mine.id, "content": hashed(mine.id, FEWER, "hashing")}
        if with_content
        else {"id": hashed(FEWER, "hashing")}
    )
    path = stored_by_hand(tmp_path / "edited", FEWER.replace(*edit), **head)
    with pytest.raises(StoredConfigError, match="it was edited"):
        GenomeBundle.load(path)
