"""Programs by hand: every gate on one, one write and one read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memgene.api.programs import check_program, run_program
from memgene.core import ConfigError, DataError, InputError
from memgene.programs.program import Program
from memgene.programs.seeds import seed
from memgene.sandbox import GuestError

WORKS = seed("experience-learner").source
RAISES = WORKS.replace('return "\\n', 'raise ValueError("no") or "\\n')


@pytest.fixture(autouse=True)
def any_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings from outside."""
    for name in ("CONFIG", "EMBEDDER", "SANDBOX_LEVEL", "SANDBOX_CHROMA"):
        monkeypatch.delenv(f"MEMGENE_{name}", raising=False)


def test_a_program_that_passes_every_gate(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(WORKS, encoding="utf-8")
    for given in (path, WORKS):
        checked = check_program(given, sandbox="rlimits", embedder="hashing")
        assert (checked.ok, checked.tried, checked.findings) == (True, True, ())
        assert checked.program == Program(WORKS).digest
    assert checked.sandbox in ("rlimits", "bubblewrap", "full")


def test_a_program_with_findings_in_its_text_is_not_run() -> None:
    checked = check_program("import os\n" + WORKS, sandbox="rlimits", embedder="hashing")
    assert (checked.ok, checked.tried) == (False, False)
    dumped = json.loads(json.dumps(checked.model_dump()))
    (finding,) = dumped["findings"]
    assert (finding["gate"], finding["code"], finding["line"]) == (
        "static",
        "import-not-allowed",
        1,
    )


def test_a_program_that_fails_when_tried() -> None:
    broken = WORKS.replace(
        "def read(self, query: Query) -> str:\n",
        "def read(self, query: Query) -> str:\n        return 1\n",
    )
    assert broken != WORKS
    checked = check_program(broken, sandbox="rlimits", embedder="hashing")
    assert [finding.code for finding in checked.findings] == ["read-output"]


def test_what_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no program 'nothing'"):
        check_program("nothing")
    with pytest.raises(DataError, match="cannot be read"):
        check_program(tmp_path / "absent.py")
    with pytest.raises(ConfigError, match=r"sandbox\.level.*'full', 'bubblewrap' or 'rlimits'"):
        check_program(WORKS, sandbox="none")


def test_one_write_and_one_read_by_hand() -> None:
    done = run_program(
        WORKS,
        write="Ana moved to Lisbon.",
        item={"lesson_learned": "Cats like Lisbon.", "fact_to_remember": "Ana moved."},
        query={"query_text": "Ana"},
        sandbox="rlimits",
        embedder="hashing",
    )
    assert done.text is not None
    assert "Ana moved." in done.text
    assert sorted(done.seconds) == ["load", "read", "write"]
    assert json.loads(json.dumps(done.model_dump()))["item"]["fact_to_remember"] == "Ana moved."


def test_the_offline_agent_fills_what_is_left_out() -> None:
    done = run_program(
        seed("vector-search"),
        write="Ana moved to Lisbon.",
        query="Where did Ana move?",
        sandbox="rlimits",
        embedder="hashing",
    )
    assert done.item == {"summary": "Ana moved to Lisbon."}
    assert done.query == {"query_text": "Where did Ana move?"}
    assert done.text == "Ana moved to Lisbon."
    assert done.logs


def test_a_read_alone_finds_an_empty_memory() -> None:
    done = run_program(WORKS, query="What?", sandbox="rlimits", embedder="hashing")
    assert (done.item, set(done.seconds)) == (None, {"load", "read"})


def test_a_failing_program_raises_its_error() -> None:
    with pytest.raises(GuestError, match="read"):
        run_program(WORKS, query={"nothing": 1}, sandbox="rlimits", embedder="hashing")


def test_nothing_to_do_is_refused() -> None:
    with pytest.raises(InputError, match="give a text to write, a query to read with"):
        run_program(WORKS)
    with pytest.raises(InputError, match="give the text too"):
        run_program(WORKS, item={}, query="What?")
