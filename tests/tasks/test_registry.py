from __future__ import annotations

import pytest

from memgene.core import DataError, InputError
from memgene.tasks.folder import write_folder
from memgene.tasks.metrics import get_metric
from memgene.tasks.registry import benchmarks, load_task


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.delenv("MEMGENE_DATA", raising=False)


def test_every_benchmark_says_what_it_is_and_how_to_get_it():
    names = [info.name for info in benchmarks()]
    assert names == ["demo", "locomo", "bfcl-memory"]
    for info in benchmarks():
        assert info.description
        assert info.licence
        assert info.obtain
        assert get_metric(info.metric)


@pytest.mark.parametrize("name", ["locomo", "bfcl-memory"])
def test_absent_data_is_an_error_with_place_and_licence(name, tmp_path):
    info = next(info for info in benchmarks() if info.name == name)
    assert not info.available()
    assert not info.available(tmp_path)
    with pytest.raises(DataError, match="MEMGENE_DATA") as raised:
        load_task(name)
    assert info.licence in str(raised.value)
    with pytest.raises(DataError, match="looked for") as raised:
        load_task(name, tmp_path)
    assert str(tmp_path) in str(raised.value)


def test_a_file_named_by_the_environment_serves_its_own_benchmark_only(tmp_path, monkeypatch):
    path = tmp_path / "locomo10.json"
    path.write_text("[]", encoding="utf-8")
    monkeypatch.setenv("MEMGENE_DATA", str(path))
    available = {info.name: info.available() for info in benchmarks()}
    assert available == {"demo": True, "locomo": True, "bfcl-memory": False}


def test_a_folder_is_a_task(make_task, tmp_path):
    write_folder(make_task({"a": 3, "b": 3, "c": 3}), tmp_path / "mine")
    assert load_task(str(tmp_path / "mine")).name == "made"
    with pytest.raises(InputError, match="no option audit"):
        load_task(tmp_path / "mine", audit=True)


def test_what_is_neither_name_nor_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="tasks are demo, locomo, bfcl-memory, or a folder"):
        load_task("locomotive")
    with pytest.raises(DataError, match="no task folder"):
        load_task(tmp_path)
    file = tmp_path / "x.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="is a file"):
        load_task(file)
