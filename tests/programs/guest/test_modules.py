"""Imports and builtins of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.testing.programs import program_text

Run = Callable[..., Any]
Load = Callable[..., Any]


@pytest.mark.parametrize("name", ALLOWED_IMPORTS)
def test_every_allowed_module_can_be_imported(run: Run, name: str) -> None:
    assert run(f"import {name} as it\nreturn it.__name__") == name


@pytest.mark.parametrize("name", ["os", "sys", "subprocess", "uuid", "time", "os.path", "memgene"])
def test_others_cannot_and_the_error_says_which_can(load: Load, name: str) -> None:
    with pytest.raises(ImportError, match=f"cannot import '{name}'.*json, re, math"):
        load(f"import {name}\n" + program_text())


def test_relative_imports_are_refused(load: Load) -> None:
    with pytest.raises(ImportError, match=r"cannot import '\.secrets'"):
        load("from .secrets import key\n" + program_text())


@pytest.mark.parametrize(
    "lines",
    [
        "from collections.abc import Mapping\nreturn Mapping.__name__",
        "import collections.abc\nreturn collections.abc.Mapping.__name__",
        "from collections import abc, Counter\nreturn abc.Mapping.__name__",
        "import numpy.linalg as la\nreturn 'Mapping' if la.norm([3.0, 4.0]) == 5 else ''",
        "from numpy import linalg\nreturn 'Mapping' if linalg.norm([3.0, 4.0]) == 5 else ''",
        "import chromadb.config\nreturn 'Mapping' if chromadb.config.Settings() else ''",
        "from chromadb.config import Settings\nreturn 'Mapping' if Settings(a=1) else ''",
    ],
)
def test_submodules_come_along(run: Run, lines: str) -> None:
    assert run(lines) == "Mapping"


def test_a_submodule_that_is_not_there_is_an_import_error(load: Load) -> None:
    with pytest.raises(ImportError, match=r"there is no module 'chromadb\.server'"):
        load("from chromadb.server import main\n" + program_text())


def test_a_program_that_forgets_its_imports_still_runs(run: Run) -> None:
    used = "return json.dumps([re.sub('a', 'b', 'a'), math.floor(2.5), Counter(typing.List)])"
    used = used.replace("Counter(typing.List)", "len(collections.Counter('aab'))")
    assert run(used, head="") == '["b", 2, 2]'


def test_c_code_can_import_what_it_needs(run: Run) -> None:
    lines = """
        from datetime import datetime
        when = datetime.strptime("8 May 2023", "%d %B %Y")
        return when.strftime("%A") + str(when.timetuple().tm_yday)
    """
    assert run(lines) == "Monday128"


@pytest.mark.parametrize("name", ["open", "eval", "exec", "compile", "input", "breakpoint"])
def test_some_builtins_are_not_there(run: Run, name: str) -> None:
    with pytest.raises(NameError, match=name):
        run(f"return {name}")


def test_the_import_of_c_code_gives_a_program_nothing(run: Run) -> None:
    assert run("return str(__import__('os', {}, {}, []))") == "None"


def test_print_is_kept_as_a_debug_line(load: Load) -> None:
    guest = load(program_text(write="print('wrote', 1, sep='-')"))
    assert guest.write("text") == ["wrote-1"]


def test_typing_and_dataclasses_find_quoted_annotations(load: Load) -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass, field"
    used = """
        class Pair(typing.NamedTuple):
            left: int
        @dataclass
        class Inner:
            names: list[str] = field(default_factory=list)
        hints = typing.get_type_hints(KnowledgeItem)
        return f"{hints['summary'].__name__} {Pair(1).left} {Inner().names}"
    """
    assert load(program_text(head=head, read=used)).read() == "str 1 []"
