"""Everything that is wrong with a bundle at once, and packing it anew."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from memgene.core import InputError, NotFoundError, StoredConfigError
from memgene.genome import GenomeBundle
from memgene.genome.checking import check_bundle
from memgene.genome.packing import pack_bundle
from memgene.genome.stored import read_stored

FORMS = ("g", "g.zip", "g.memgene")


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_bundle(full: GenomeBundle, tmp_path: Path, form: str) -> None:
    found = check_bundle(full.save(tmp_path / form))
    assert found.whole
    assert found.bundle == full
    assert found.head is not None
    assert found.head.content == full.content
    assert (found.deviations, found.signature, found.notes) == ((), None, ())


def test_every_file_that_deviates_is_told(full: GenomeBundle, tmp_path: Path) -> None:
    path = full.save(tmp_path / "g")
    (path / "program.py").write_text("pass\n")
    (path / "memory.jsonl").unlink()
    (path / "stages" / "echo.py").unlink()
    (path / "stages" / "more.py").write_text("pass\n")
    (path / "notes.md").write_text("ours")
    found = check_bundle(path)
    assert not found.whole
    assert found.bundle is None
    assert [(each.file, each.how) for each in found.deviations] == [
        ("program.py", "changed"),
        ("memory.jsonl", "missing"),
        ("stages/echo.py", "missing"),
        ("stages/more.py", "extra"),
        ("notes.md", "extra"),
    ]
    here = hashlib.sha256(b"pass\n").hexdigest()[:12]
    assert found.deviations[0].detail.startswith(f"5 bytes of SHA-256 {here}…, stored were ")


def test_a_head_that_was_edited_is_the_one_thing_told(full: GenomeBundle, tmp_path: Path) -> None:
    path = full.save(tmp_path / "g")
    head = path / "genome.toml"
    head.write_text(head.read_text(encoding="utf-8").replace("mean = 0.25", "mean = 0.95"))
    (found,) = check_bundle(path).deviations
    assert (found.file, found.how) == ("genome.toml", "damaged")
    assert "edited" in found.detail
    head.unlink()
    (found,) = check_bundle(path).deviations
    assert (found.file, found.how) == ("genome.toml", "missing")


def test_an_archive_that_cannot_be_read_is_told(full: GenomeBundle, tmp_path: Path) -> None:
    path = full.save(tmp_path / "g.memgene")
    path.write_bytes(path.read_bytes()[:-100])
    (found,) = check_bundle(path).deviations
    assert found.how == "damaged"
    assert str(path) in found.detail


def test_nothing_there_is_no_finding(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no genome bundle at"):
        check_bundle(tmp_path / "never")


def test_an_older_format_is_whole_and_says_what_it_lacks(fixtures: Path) -> None:
    found = check_bundle(fixtures / "format-1-program")
    assert found.whole
    assert found.head is None
    assert len(found.notes) == 1
    assert "memgene genome pack" in found.notes[0]


# -- packing


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("target", ["out", "out.zip", "deep/out.memgene"])
def test_packing_keeps_every_byte_of_every_file(
    full: GenomeBundle, tmp_path: Path, source: str, target: str
) -> None:
    path = full.save(tmp_path / source)
    packed = pack_bundle(path, tmp_path / target)
    assert read_stored(tmp_path / target).files == full.files()
    assert (packed.id, packed.content) == (full.id, full.content)
    assert packed.bytes == sum(map(len, full.files().values()))
    assert (packed.signer, packed.migrated_from) == (None, None)


def test_a_head_that_was_written_otherwise_packs_to_the_same_bytes(
    full: GenomeBundle, tmp_path: Path
) -> None:
    path = full.save(tmp_path / "g")
    (path / "genome.toml").write_bytes(b"# ours\n" + full.files()["genome.toml"])
    pack_bundle(path, tmp_path / "a.memgene")
    full.save(tmp_path / "b.memgene")
    assert (tmp_path / "a.memgene").read_bytes() == (tmp_path / "b.memgene").read_bytes()


def test_a_damaged_bundle_is_not_packed(full: GenomeBundle, tmp_path: Path) -> None:
    path = full.save(tmp_path / "g")
    (path / "program.py").write_text("pass\n")
    with pytest.raises(StoredConfigError):
        pack_bundle(path, tmp_path / "out.memgene")
    assert not (tmp_path / "out.memgene").exists()


def test_a_folder_of_other_things_is_no_target(full: GenomeBundle, tmp_path: Path) -> None:
    path = full.save(tmp_path / "g")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds letter\.txt"):
        pack_bundle(path, tmp_path / "home")
    assert [file.name for file in (tmp_path / "home").iterdir()] == ["letter.txt"]
