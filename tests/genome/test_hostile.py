"""Bundles made to do harm: bounded, kept in their place, never run."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memgene.core import StoredConfigError
from memgene.genome import GenomeBundle
from memgene.genome import stored as limits
from memgene.genome.checking import check_bundle
from memgene.genome.comparing import compare_bundles
from memgene.genome.packing import pack_bundle
from memgene.retrieval.config import RetrievalConfig

PLAIN = GenomeBundle(RetrievalConfig(window=2), "hashing", "config")
Members = list[tuple[zipfile.ZipInfo, bytes]]


def archive(path: Path, extra: Members, files: dict[str, bytes] | None = None) -> Path:
    """A zip of a sound bundle with further entries."""
    with zipfile.ZipFile(path, "w") as made:
        for name, content in (PLAIN.files() if files is None else files).items():
            made.writestr(name, content)
        for info, content in extra:
            made.writestr(info, content)
    return path


def member(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    "name",
    ["../x", "stages/../../x.py", "/etc/x", "a/../b", "C:/x", "..\\x", "stages\\x.py", "", "a\0b"],
)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "g.zip", [(member(name), b"x")])
    with pytest.raises(StoredConfigError, match="leads out of the bundle"):
        GenomeBundle.load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["genome.toml", "notes.md"])
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "g.zip", [(member(name), b"one"), (member(name), b"two")])
    with pytest.raises(StoredConfigError, match="is there twice"):
        GenomeBundle.load(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_an_archive_are_refused(tmp_path: Path, kind: int) -> None:
    path = archive(tmp_path / "g.zip", [(member("program.py", kind | 0o777), b"/etc/passwd")])
    with pytest.raises(StoredConfigError, match="link or device"):
        GenomeBundle.load(path)


@pytest.mark.parametrize("name", ["notes.md", "program.py", "stages/x.py", "sub/genome.toml"])
def test_an_extra_file_is_refused(tmp_path: Path, name: str) -> None:
    zipped = archive(tmp_path / "g.zip", [(member(name), b"x = 1\n")])
    folder = PLAIN.save(tmp_path / "g")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("x = 1\n")
    for path, told in ((zipped, name), (folder, name.removesuffix("/genome.toml"))):
        with pytest.raises(StoredConfigError, match=f"{told} is extra"):
            GenomeBundle.load(path)


def test_a_folder_entry_of_the_stages_is_no_file(tmp_path: Path, full: GenomeBundle) -> None:
    entry = member("stages/", stat.S_IFDIR | 0o755)
    path = archive(tmp_path / "g.zip", [(entry, b"")], full.files())
    assert GenomeBundle.load(path) == full


@pytest.mark.parametrize("name", ["program.py", "retrieval.toml", "stages"])
def test_a_link_in_a_folder_is_refused(tmp_path: Path, full: GenomeBundle, name: str) -> None:
    path = full.save(tmp_path / "g")
    elsewhere = tmp_path / "elsewhere"
    (path / name).rename(elsewhere)
    (path / name).symlink_to(elsewhere)
    with pytest.raises(StoredConfigError, match=f"{name} is a link"):
        GenomeBundle.load(path)


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    path = PLAIN.save(tmp_path / "g")
    os.mkfifo(path / "program.py")
    with pytest.raises(StoredConfigError, match=r"program\.py is extra"):
        GenomeBundle.load(path)


def test_saving_over_a_link_leaves_what_it_led_to(tmp_path: Path) -> None:
    path = PLAIN.save(tmp_path / "g")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (path / "retrieval.toml").unlink()
    (path / "retrieval.toml").symlink_to(elsewhere)
    PLAIN.save(path)
    assert elsewhere.read_text() == "mine"
    assert GenomeBundle.load(path) == PLAIN


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LARGEST", 100_000)
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("genome.toml", bytes(100_001))
    assert path.stat().st_size < 1000
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(StoredConfigError, match="larger than 100,000 bytes"):
        GenomeBundle.load(path)


def test_many_files_that_are_much_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LARGEST_WHOLE", 10_000)
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for number in range(3):
            made.writestr(f"stages/s{number}.py", bytes(4_000))
    with pytest.raises(StoredConfigError, match="more than 10,000 bytes"):
        GenomeBundle.load(path)


def test_more_files_than_a_bundle_can_need_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "g.zip", [(member(f"stages/s{n}.py"), b"") for n in range(500)])
    with pytest.raises(StoredConfigError, match="502 files, more than 500"):
        GenomeBundle.load(path)


def test_a_size_that_is_a_lie_is_found(tmp_path: Path) -> None:
    """The central directory says that an entry is short; what is unpacked is long."""
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("genome.toml", bytes(50_000))
    content = bytearray(path.read_bytes())
    place = content.index((50_000).to_bytes(4, "little"), content.index(b"PK\x01\x02"))
    content[place : place + 4] = (10).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(StoredConfigError, match="damaged"):
        GenomeBundle.load(path)


def test_an_entry_that_hides_the_next_is_found(tmp_path: Path, full: GenomeBundle) -> None:
    """A comment that is said to be long swallows the records of the entries behind it."""
    path = full.save(tmp_path / "g.zip")
    content = bytearray(path.read_bytes())
    record = content.rindex(b"PK\x01\x02", 0, content.rindex(b"PK\x01\x02"))
    content[record + 32] ^= 0xFF  # the length of the comment
    path.write_bytes(content)
    with pytest.raises(StoredConfigError, match="shows 7 of its 8 entries"):
        GenomeBundle.load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_to_compress_that_are_not_used_are_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        for name, content in PLAIN.files().items():
            made.writestr(name, content)
    with pytest.raises(StoredConfigError, match="in a way that is not used"):
        GenomeBundle.load(path)


@pytest.mark.parametrize(
    "change",
    [lambda c: b"#!/bin/sh\n" + c, lambda c: c + b"more", lambda c: c[:-10], lambda _: b""],
    ids=["before", "behind", "cut", "empty"],
)
def test_an_archive_is_all_there_is(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    path = PLAIN.save(tmp_path / "g.memgene")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(StoredConfigError, match="damaged"):
        GenomeBundle.load(path)


def test_an_archive_that_others_compressed_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in reversed(PLAIN.files().items()):
            made.writestr(name, content)
    path = tmp_path / "g.zip"
    path.write_bytes(buffer.getvalue())
    assert GenomeBundle.load(path) == PLAIN


def test_nothing_of_a_bundle_is_run(trapped: tuple[GenomeBundle, Path], tmp_path: Path) -> None:
    bundle, mark = trapped
    for form in ("g", "g.zip", "g.memgene"):
        path = bundle.save(tmp_path / form)
        assert GenomeBundle.load(path) == bundle
        assert check_bundle(path).whole
        pack_bundle(path, tmp_path / "packed.memgene")
        assert compare_bundles(bundle, GenomeBundle.load(path)).same
    assert not mark.exists()
    with pytest.raises(FileNotFoundError):
        mark.read_bytes()
    exec(bundle.config.stages[0].stage.source)  # the trap is a trap
    assert mark.exists()
