"""Progress is shown to people only."""

from __future__ import annotations

import pytest

from memgene.cli import bars
from memgene.evolution.progress import EvolveProgress


def test_nothing_is_shown_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, as_json in ((False, False), (True, True)):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal, raising=False)
        with bars.evaluation_bar(as_json) as evaluation, bars.evolution_bar(as_json) as evolution:
            assert evaluation is None
            assert evolution is None


def test_the_state_of_an_evolution_in_words() -> None:
    at = EvolveProgress("search", 2, 8, 0.5, 0.625, 120, 0, 0, 1.5, 9.0, 30.4)
    assert bars.evolution_state(at) == ("val 50.0, best 62.5, 120 questions, cost 1.50, 30 s left")
    start = EvolveProgress("start", 0, 8, None, None, 0, 0, 0, 0.0, 0.0, None)
    assert bars.evolution_state(start) == "0 questions"
