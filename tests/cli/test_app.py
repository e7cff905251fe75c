"""The application as a whole: exit codes, documentation, a quick start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import memgene
from memgene.cli.app import make_app, program
from memgene.cli.docs import cli_page, verbs
from memgene.cli.main import build
from memgene.core import (
    BankError,
    ConfigError,
    DataError,
    InputError,
    MemgeneError,
    NotFoundError,
    RunError,
    StoredConfigError,
)

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(memgene.__file__).parents[1])}
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def failing(problem: BaseException) -> Result:
    app = make_app("test")

    def fail() -> None:
        raise problem

    app.command("fail")(fail)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["fail"])


def test_an_error_of_ours_is_one_line_and_code_1() -> None:
    result = failing(DataError("the file is absent"))
    assert (result.exit_code, result.stderr, result.stdout) == (
        1,
        "memgene: the file is absent\n",
        "",
    )


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (InputError("no such split"), 2),
        (ConfigError("no such harness"), 2),
        (StoredConfigError("memgene.toml is wrong"), 1),
        (NotFoundError("no such memory"), 1),
        (BankError("locked"), 1),
        (RunError("no run to resume"), 1),
    ],
)
def test_code_2_says_that_the_command_line_is_to_blame(problem: MemgeneError, code: int) -> None:
    result = failing(problem)
    assert (result.exit_code, result.stderr) == (code, f"memgene: {problem}\n")


def test_a_file_that_the_system_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as caught:
        tmp_path.read_text()
    result = failing(caught.value)
    assert (result.exit_code, result.stderr) == (1, f"memgene: {tmp_path}: Is a directory\n")


def test_a_program_is_named_as_this_installation_can_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "memgene"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == [str(script)]
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == ["memgene"]
    other = tmp_path / "memgene"
    other.write_text("#!/bin/sh\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(other), "demo"])
    assert program() == [str(other)]
    monkeypatch.setattr(sys, "argv", ["/somewhere/memgene/cli/__main__.py"])
    assert program() == [sys.executable, "-m", "memgene.cli"]


def test_control_c_is_code_130() -> None:
    result = failing(KeyboardInterrupt())
    assert (result.exit_code, result.stderr) == (130, "memgene: interrupted\n")


def test_any_other_error_is_a_bug_and_keeps_its_trace() -> None:
    assert isinstance(failing(RuntimeError("bug")).exception, RuntimeError)


def test_the_version_is_told(run: Callable[..., Result]) -> None:
    assert run("--version").stdout == "memgene 0.1.0\n"


@pytest.mark.parametrize("name", [name for name, _ in verbs(build())])
def test_every_verb_is_documented_and_takes_json(name: str) -> None:
    verb: Any = dict(verbs(build()))[name]
    assert verb.help
    assert "\n" not in verb.help.split("\n\n")[0]
    assert all(p.help for p in verb.params if p.name != "help"), name
    assert any("--json" in p.opts for p in verb.params)


def test_the_page_of_all_verbs_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == cli_page(), (
        "run: python -m memgene.cli.docs > docs/cli.md"
    )


def test_help_and_import_load_nothing_heavy() -> None:
    script = (
        "import sys; import memgene; import memgene.cli.main as m; m.build(); "
        "print(sorted({'numpy', 'tokenizers', 'pydantic', 'sqlite3', 'onnxruntime', 'usearch'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stdout == "[]\n"


def test_the_console_script_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memgene.cli", "get", "x", "--db", "absent.db"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env=ENVIRONMENT
    )
    assert done.returncode == 1
    assert done.stderr == "memgene: there is no memory at absent.db; `memgene add` makes one\n"
