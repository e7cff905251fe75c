"""memgene program check|run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from memgene.programs.seeds import seed

Run = Callable[..., Result]
OPTIONS = ("--sandbox", "rlimits", "--embedder", "hashing")


@pytest.fixture
def program(here: Path) -> str:
    path = here / "mine.py"
    path.write_text(seed("vector-search").source, encoding="utf-8")
    return path.name


def test_check_says_that_all_is_well_and_how_it_was_isolated(run: Run, program: str) -> None:
    result = run("program", "check", program, *OPTIONS)
    assert result.exit_code == 0, result.output
    assert "passes every gate (tried in sandbox level" in result.stdout


def test_check_as_json(ask: Callable[..., Any], program: str) -> None:
    checked = ask("program", "check", program, *OPTIONS)
    assert (checked["ok"], checked["tried"], checked["findings"]) == (True, True, [])
    assert checked["sandbox"] in ("full", "bubblewrap", "rlimits")


def test_check_lists_findings_and_fails(run: Run, ask: Callable[..., Any], here: Path) -> None:
    (here / "bad.py").write_text("import os\nopen('x')\n", encoding="utf-8")
    result = run("program", "check", "bad.py")
    assert result.exit_code == 1
    assert "[import-not-allowed] line 1: `os` cannot be imported" in result.stdout
    assert "9 findings (not run; available is sandbox level" in result.stdout
    checked = ask("program", "check", "bad.py", code=1)
    assert [f["code"] for f in checked["findings"]][-2:] == [
        "import-not-allowed",
        "builtin-not-allowed",
    ]


def test_run_writes_and_reads_by_hand(
    run: Run, ask: Callable[..., Any], program: str, here: Path
) -> None:
    (here / "text.txt").write_text("Ana moved to Lisbon.", encoding="utf-8")
    arguments = ("program", "run", program, "--write", "@text.txt", "--query", "Where is Ana?")
    result = run(*arguments, *OPTIONS)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "item    summary = 'Ana moved to Lisbon.'"
    assert lines[1] == "query   query_text = 'Where is Ana?'"
    assert lines[-1] == "Ana moved to Lisbon."
    done = ask(*arguments, *OPTIONS)
    assert (done["text"], sorted(done["seconds"])) == (
        "Ana moved to Lisbon.",
        ["load", "read", "write"],
    )
    assert done["logs"]


def test_run_with_values(ask: Callable[..., Any], program: str) -> None:
    done = ask(
        "program", "run", program, "--write", "Ben", "--item", '{"summary": "s"}',
        "--query-json", '{"query_text": "Ben"}', *OPTIONS,
    )  # fmt: skip
    assert (done["item"], done["query"], done["text"]) == (
        {"summary": "s"},
        {"query_text": "Ben"},
        "Ben",
    )


def test_a_program_that_fails_shows_its_error(run: Run, program: str) -> None:
    result = run("program", "run", program, "--query-json", "{}", *OPTIONS)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("memgene: read: ")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "absent.py"), 1, "the program absent.py cannot be read"),
        (("check", "nothing"), 2, "there is no program 'nothing'"),
        (("check", "vector-search", "--sandbox", "weak"), 2, "'bubblewrap' or 'rlimits'"),
        (("run", "vector-search"), 2, "give a text to write, a query to read with, or both"),
        (("run", "vector-search", "--write", "@absent"), 1, "absent: No such file"),
        (
            ("run", "vector-search", "--write", "x", "--item", "[1]"),
            2,
            "--item needs a JSON object",
        ),
        (
            ("run", "vector-search", "--query", "x", "--query-json", "{}"),
            2,
            "either --query or --query-json",
        ),
    ],
)
def test_wrong_use_is_told_in_a_line(
    run: Run, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run("program", *arguments)
    assert result.exit_code == code
    assert words in " ".join(result.stderr.replace("│", " ").split())
