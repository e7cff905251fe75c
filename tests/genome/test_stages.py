"""Stages in a bundle, and beside a configuration: files of their own, by digest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memgene.core import ConfigError, NotFoundError, StoredConfigError
from memgene.genome import GenomeBundle, config_files, read_config
from memgene.genome.head import Head
from memgene.genome.reading import read_head, read_values
from memgene.genome.stored import read_stored, write_folder


def test_every_part_has_its_file_in_a_fixed_order(full: GenomeBundle) -> None:
    assert list(full.files()) == [
        "genome.toml",
        "retrieval.toml",
        "prompts.toml",
        "program.py",
        "router.npz",
        "memory.jsonl",
        "stages/echo.py",
        "stages/longer.py",
    ]


def test_stages_are_kept_to_the_letter(full: GenomeBundle, tmp_path: Path) -> None:
    for form in ("g", "g.zip"):
        loaded = GenomeBundle.load(full.save(tmp_path / form))
        assert loaded == full
        assert [(p.name, p.strength) for p in loaded.config.stages] == [
            ("echo", 0.0),
            ("longer", 0.5),
        ]
        assert loaded.files() == full.files()


@pytest.mark.parametrize("form", ["g", "g.zip"])
def test_equal_genomes_are_equal_bytes(full: GenomeBundle, tmp_path: Path, form: str) -> None:
    turned = replace(full, config=replace(full.config, stages=full.config.stages[::-1]))
    one, two = full.save(tmp_path / f"1{form}"), turned.save(tmp_path / f"2{form}")
    assert read_stored(one).files == read_stored(two).files
    if one.is_file():
        assert one.read_bytes() == two.read_bytes()


def test_saving_a_genome_without_stages_over_one_with_them(
    full: GenomeBundle, tmp_path: Path
) -> None:
    path = full.save(tmp_path / "g")
    bare = replace(full, config=replace(full.config, stages=()))
    bare.save(path)
    assert GenomeBundle.load(path) == bare
    assert not (path / "stages").exists()


def resealed(path: Path, full: GenomeBundle, change: dict[str, bytes | None]) -> Path:
    """A bundle with other files, whose digests name them."""
    full.save(path)
    stored = read_stored(path)
    head = read_head(stored, read_values(stored))
    beside = {**stored.files, **change}
    kept = {n: c for n, c in beside.items() if c is not None and n != "genome.toml"}
    write_folder(path, {"genome.toml": Head.of(head.id, head.origin, kept).to_bytes(), **kept})
    return path


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"stages/echo.py": b"KIND = 'query'\nABOUT = 'other'\n"}, "names stage echo"),
        ({"stages/echo.py": b"KIND ="}, r"stages/echo\.py: stage echo is not Python"),
        ({"stages/echo.py": b"\xff"}, r"stages/echo\.py is damaged"),
        ({"stages/echo.py": b"-" * 15_000 + b"1"}, r"stages/echo\.py"),
        ({"stages/more.py": b"KIND = 'query'\nABOUT = 'more'\n"}, "names no such stage"),
    ],
    ids=["another", "no Python", "no text", "nested", "unnamed"],
)
def test_stages_that_are_not_the_named_ones_are_refused(
    full: GenomeBundle, tmp_path: Path, change: dict[str, bytes | None], why: str
) -> None:
    path = resealed(tmp_path / "g", full, change)
    with pytest.raises(StoredConfigError, match=why):
        GenomeBundle.load(path)


def test_a_stage_that_is_missing_is_named(full: GenomeBundle, tmp_path: Path) -> None:
    path = resealed(tmp_path / "g", full, {"stages/echo.py": None})
    with pytest.raises(NotFoundError, match=r"stages/echo\.py"):
        GenomeBundle.load(path)


# -- beside a configuration, as run folders keep it


def test_a_configuration_is_read_with_the_stages_beside_it(
    full: GenomeBundle, tmp_path: Path
) -> None:
    write_folder(tmp_path / "c", config_files(full.config))
    assert read_config(tmp_path / "c" / "retrieval.toml") == full.config


def test_what_keeps_it_from_being_read_is_told(full: GenomeBundle, tmp_path: Path) -> None:
    write_folder(tmp_path / "c", config_files(full.config))
    file, stage = tmp_path / "c" / "retrieval.toml", tmp_path / "c" / "stages" / "echo.py"
    stage.write_text("KIND = 'query'\nABOUT = 'other'\n")
    with pytest.raises(ConfigError, match="names stage echo"):
        read_config(file)
    stage.write_bytes(b"\xff")
    with pytest.raises(StoredConfigError, match="damaged"):
        read_config(file)
    stage.unlink()
    with pytest.raises(NotFoundError, match=r"names stage echo, and there is no .*echo\.py"):
        read_config(file)
    file.write_text('format = 1\nstages = {"../../x" = {digest = "0", strength = 1.0}}\n')
    with pytest.raises(ConfigError, match="no name of one"):
        read_config(file)
