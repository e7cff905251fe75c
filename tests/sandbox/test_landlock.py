"""Rights a Landlock interface version knows, and the files a guest may read."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import pytest

from memgene.sandbox.landlock import READ_DIR, READ_FILE, handled, library_entries

HEADER = Path("/usr/include/linux/landlock.h")


def test_each_version_adds_its_rights() -> None:
    files = {version: handled(version)[0].bit_count() for version in range(1, 8)}
    assert files == {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}
    assert [handled(version)[1] for version in (3, 4)] == [0, 0b11]
    assert [handled(version)[2] for version in (5, 6)] == [0, 0b11]


def test_rights_are_those_of_the_kernels_header() -> None:
    if not HEADER.exists():
        pytest.skip(f"{HEADER} is not installed")
    pattern = re.compile(r"#define LANDLOCK_ACCESS_FS_(\w+)\s+\(1ULL << (\d+)\)")
    official = {name: 1 << int(bit) for name, bit in pattern.findall(HEADER.read_text())}
    assert official["READ_FILE"] == READ_FILE
    assert official["READ_DIR"] == READ_DIR
    assert sum(official.values()) in {handled(version)[0] for version in range(1, 8)}


def test_the_standard_library_and_no_package_may_be_read() -> None:
    entries = list(library_entries())
    names = {entry.name for entry in entries}
    assert {"json", "decimal.py", "lib-dynload"} <= names
    assert not {name for name in names if name.endswith("-packages")}
    assert Path(sysconfig.get_path("stdlib")).resolve() not in entries
