"""Where memgene keeps what it can always make again."""

from pathlib import Path

import pytest

from memgene.settings.paths import user_cache_dir


def test_the_cache_folder_honours_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache_dir() == tmp_path / "memgene"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert user_cache_dir() == tmp_path / ".cache" / "memgene"
