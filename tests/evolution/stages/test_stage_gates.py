"""What a stage's source must pass before an evolution tries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from memgene.evolution.stages.gates import gate_stage
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox import Limits

HEAD = 'KIND = "rescorer"\nABOUT = "prefers what holds a digit"\n'
GOOD = HEAD + (
    "import re\n"
    "def scores(query, hits):\n"
    "    return [1.0 if re.search(r'\\d', hit['text']) else 0.0 for hit in hits]\n"
)
QUICK = Limits(call_seconds=0.5, start_seconds=60.0, memory_bytes=256 << 20, message_bytes=1 << 20)


@pytest.fixture(scope="module")
def host() -> Iterator[SandboxedStages]:
    with SandboxedStages(limits=QUICK) as made:
        yield made


def test_a_sound_stage_passes(host: SandboxedStages) -> None:
    assert gate_stage(GOOD, "digits", host) == ()


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("def scores(query, hits:\n", "syntax", 1),
        ('ABOUT = "no kind"\n', "declaration", None),
        (HEAD, "missing-function", None),
        (HEAD + "def scores(query): return []\n", "signature", 3),
        (HEAD + "async def scores(query, hits): return []\n", "signature", 3),
        (HEAD + "import os\ndef scores(query, hits): return []\n", "import-not-allowed", 3),
        (HEAD + "import sqlite3\ndef scores(query, hits): return []\n", "import-not-allowed", 3),
        (HEAD + "def scores(query, hits):\n    return eval(query)\n", "builtin-not-allowed", 4),
        (HEAD + "def scores(query, hits):\n    return [nothing]\n", "undefined-name", 4),
    ],
)
def test_what_its_text_shows_is_told_by_line_and_nothing_is_run(
    source: str, code: str, line: int | None
) -> None:
    findings = gate_stage(source, "wrong", Never())
    assert [(f.gate, f.code, f.line) for f in findings] == [("static", code, line)]


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("return [1 / 0 for hit in hits]", 4, "ZeroDivisionError"),
        ("return [1.0]", None, "one number each"),
        ("return [float('nan')] * len(hits)", None, "wrong"),
        ("return [hits[1]['score'] for hit in hits]", 4, "IndexError"),
    ],
)
def test_a_trial_finds_what_fails(
    host: SandboxedStages, body: str, line: int | None, words: str
) -> None:
    source = HEAD + f"def scores(query, hits):\n    {body}\n"
    (finding,) = gate_stage(source, "wrong", host)
    assert (finding.gate, finding.line) == ("smoke", line)
    assert words in finding.message


def test_a_stage_that_hangs_exceeds_a_limit(host: SandboxedStages) -> None:
    source = HEAD + "def scores(query, hits):\n    while True:\n        pass\n"
    (finding,) = gate_stage(source, "endless", host)
    assert finding.gate == "limits"
    assert gate_stage(GOOD, "digits", host) == ()


def test_a_stage_whose_values_differ_from_call_to_call_is_found() -> None:
    codes = {f.code for f in gate_stage(GOOD, "digits", Counting())}
    assert codes == {"not-deterministic"}


class Never:
    """A host that must not be called."""

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        raise AssertionError(f"{stage.name} was run")


class Counting:
    """A host whose every call returns another number for each hit."""

    def __init__(self) -> None:
        self._calls = 0

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        self._calls += 1
        return [1.0 / self._calls] * len(params["hits"])
