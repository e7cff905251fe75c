"""The run folder: started once, locked, resumed under the same settings only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from memgene.core import RunError
from memgene.evaluation.case import Case
from memgene.evolution.events import Promoted
from memgene.evolution.files import write_folder, write_whole
from memgene.evolution.journal import read_journal
from memgene.evolution.rundir import RunFolder, cases_digest, read_run, row_subject
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router
from memgene.retrieval.stages.stage import Stage

SETTINGS = {"seed": 1, "metric": "mrr", "budget": None, "harnesses": ("a", "b")}
DATA = {"task": "f1"}


def test_a_new_run_writes_what_it_was_asked(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA):
        pass
    written = tomllib.loads((tmp_path / "run" / "run.toml").read_text())
    assert written["settings"] == {"seed": 1, "metric": "mrr", "harnesses": ["a", "b"]}
    assert written["data"] == DATA
    assert written["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "git_revision" in written


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(RunError, match=r"not empty \(notes.txt\)"):
            RunFolder.open(tmp_path, SETTINGS, DATA, resume=resume)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA):
        pass
    with pytest.raises(RunError, match="--resume continues it"):
        RunFolder.open(tmp_path / "run", SETTINGS, DATA)


def test_a_place_where_no_folder_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match=r"a run cannot be kept in .*; choose another folder"):
            RunFolder.open(place, SETTINGS, DATA)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run to resume"):
        RunFolder.open(tmp_path / "typo", SETTINGS, DATA, resume=True)


def test_a_run_killed_before_its_first_file_is_started_by_resume(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_text("process 1")
    (tmp_path / ".run.toml.tmp").write_text("format")
    with RunFolder.open(tmp_path, SETTINGS, DATA, resume=True):
        pass
    assert read_run(tmp_path)["format"] == 1


def test_resume_names_the_settings_that_differ(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA):
        pass
    with pytest.raises(RunError, match="other settings: seed was 1, now 2"):
        RunFolder.open(tmp_path / "run", {**SETTINGS, "seed": 2}, DATA, resume=True)
    with pytest.raises(RunError, match="budget was 'not given', now "):
        RunFolder.open(
            tmp_path / "run", {**SETTINGS, "budget": {"questions": 5}}, DATA, resume=True
        )
    with pytest.raises(RunError, match="other data: task was 'f1', now 'f2'"):
        RunFolder.open(tmp_path / "run", SETTINGS, {"task": "f2"}, resume=True)


def test_resume_notes_other_versions_and_a_torn_line(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA) as run:
        run.journal.emit(Promoted("001", False))
    text = (tmp_path / "run" / "run.toml").read_text()
    python = ".".join(map(str, sys.version_info[:3]))
    (tmp_path / "run" / "run.toml").write_text(text.replace(f'"{python}"', '"3.0.0"'))
    with (tmp_path / "run" / "journal.jsonl").open("a") as file:
        file.write('{"format"')
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA, resume=True):
        pass
    marks = [entry.event for entry in read_journal(tmp_path / "run" / "journal.jsonl")]
    assert marks[-1].to_dict() == {
        "event": "resumed",
        "cut_bytes": 9,
        "differences": [f"python was '3.0.0', now '{python}'"],
    }


def test_the_isolation_of_programs_is_kept_and_another_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with RunFolder.open(path, SETTINGS, DATA, isolation="full"):
        pass
    assert read_run(path)["isolation"] == "full"
    with pytest.raises(RunError, match="at sandbox level full, here it would be rlimits"):
        RunFolder.open(path, SETTINGS, DATA, resume=True, isolation="rlimits")
    with RunFolder.open(path, SETTINGS, DATA, resume=True, isolation="full"):
        pass
    with RunFolder.open(tmp_path / "plain", SETTINGS, DATA):
        pass
    assert "isolation" not in read_run(tmp_path / "plain")


def test_one_process_has_the_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from memgene.evolution.rundir import RunFolder\n"
        "try: RunFolder.open(sys.argv[1], {'seed': 1}, {}, resume=True)\n"
        "except Exception as error: print(error)\n"
    )
    with RunFolder.open(tmp_path / "run", {"seed": 1}, {}):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "run")],
            capture_output=True,
            text=True,
            check=True,
        )
    assert f"is in use by process {os.getpid()}" in done.stdout
    with RunFolder.open(tmp_path / "run", {"seed": 1}, {}, resume=True):
        pass


def test_a_failed_start_lets_go_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    for _ in range(2):
        with pytest.raises(RunError, match="not empty"):
            RunFolder.open(tmp_path, SETTINGS, DATA)


def test_cases_of_several_splits_share_a_file(
    tmp_path: Path, make_case: Callable[..., Case]
) -> None:
    val = [make_case("v1", "a", 1.0), make_case("v2", "a", 0.0)]
    dev = [make_case("d1", "b", 1.0)]
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA) as run:
        run.save_cases("001", val)
        run.save_cases("001", dev)
        assert run.load_cases("001", ["v2", "v1"]) == [val[1], val[0]]
        assert run.load_cases("001", ["d1"]) == dev
        again = [make_case("v1", "a", 0.0), make_case("v2", "a", 1.0)]
        run.save_cases("001", again)
        assert run.load_cases("001", ["v1", "v2"]) == again
        with pytest.raises(RunError, match="lacks 1 cases"):
            run.load_cases("001", ["d1", "d2"])


def test_the_digest_of_cases_sees_scores_and_errors(make_case: Callable[..., Case]) -> None:
    one = [make_case("v1", "a", 1.0)]
    assert cases_digest(one) == cases_digest([make_case("v1", "z", 1.0)])
    assert cases_digest(one) != cases_digest([make_case("v1", "a", 0.0)])
    assert cases_digest(one) != cases_digest([make_case("v1", "a", 1.0, error="read: x")])


def test_genome_files_and_usage(tmp_path: Path) -> None:
    config = RetrievalConfig().changed(window=2, per_type={"when": {"context_k": 3}})
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA) as run:
        run.save_files("001", {"retrieval.toml": config.to_toml(), "message.md": "why"})
        assert run.load_config("001") == config
        run.save_usage("001", "val", {"task": {"calls": 2.0}}, 1.23456)
        run.save_usage("001", "dev", {}, 2.0)
        used = json.loads((run.folder_of("001") / "usage.json").read_text())
        assert used == {
            "format": 1,
            "val": {"seconds": 1.235, "roles": {"task": {"calls": 2.0}}},
            "dev": {"seconds": 2.0, "roles": {}},
        }
        assert run.folder_of("final/bm25") == tmp_path / "run" / "final" / "bm25"
        with pytest.raises(RunError, match="is gone"):
            run.load_config("002")


def test_a_router_is_read_with_the_configuration_that_names_it(tmp_path: Path) -> None:
    router = Router.fresh(("dense", "sparse"), ("length",))
    config = RetrievalConfig(fusion="q_rrf", router=router)
    files = {"retrieval.toml": config.to_toml(), "router.npz": router.to_bytes()}
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA) as run:
        run.save_files("001", files)
        assert run.load_config("001") == config
        run.save_files("002", {"retrieval.toml": config.to_toml()})
        with pytest.raises(RunError, match=r"there is no .*router\.npz"):
            run.load_config("002")


def test_rows_have_folders_of_their_own_whatever_their_names() -> None:
    assert row_subject("hybrid-rrf") == "final/hybrid-rrf"
    first, second = row_subject("genome:a/b"), row_subject("genome:a-b")
    assert first.startswith("final/genome-a-b-")
    assert first != second
    assert first.count("/") == 1
    assert row_subject("..").startswith("final/-")


def test_a_run_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run folder"):
        read_run(tmp_path)
    (tmp_path / "run.toml").write_text("format = 7")
    with pytest.raises(RunError, match="format 7; this version reads 1"):
        read_run(tmp_path)
    (tmp_path / "run.toml").write_text("format = ")
    with pytest.raises(RunError, match="is damaged"):
        read_run(tmp_path)


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    def fill(*names: str) -> Callable[[Path], None]:
        def make(path: Path) -> None:
            path.mkdir()
            for name in names:
                (path / name).write_text(name)

        return make

    write_folder(tmp_path / "best", fill("old", "both"))
    (tmp_path / ".best.tmp").mkdir()  # left by a killed process
    write_folder(tmp_path / "best", fill("new", "both"))
    assert sorted(p.name for p in (tmp_path / "best").iterdir()) == ["both", "new"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["best"]


def test_a_whole_file_replaces_the_former_one(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b.txt", "1\n")
    write_whole(tmp_path / "a" / "b.txt", "2\n")
    assert [(p.name, p.read_text()) for p in (tmp_path / "a").iterdir()] == [("b.txt", "2\n")]


def test_a_configuration_is_kept_with_its_stages(tmp_path: Path) -> None:
    stage = Stage("mine", 'KIND = "filter"\nABOUT = "é"\n')
    config = RetrievalConfig(window=2).with_stage(stage, 1.5)
    with RunFolder.open(tmp_path / "run", SETTINGS, DATA) as run:
        run.save_config("001", config, "other.toml")
        assert run.load_config("001", "other.toml") == config
        (run.folder_of("001") / "stages" / "mine.py").unlink()
        with pytest.raises(RunError, match="stage mine"):
            run.load_config("001", "other.toml")
