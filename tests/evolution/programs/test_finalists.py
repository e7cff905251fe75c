"""Who is named best: static and fresh val questions together, against the best seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memgene.evaluation.case import Case
from memgene.evolution.events import Promoted, Rechecked
from memgene.evolution.journal import Journal, read_journal
from memgene.evolution.programs.candidates import Seen
from memgene.evolution.programs.finalists import Finalists
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.sampling import Sample
from memgene.programs.program import Program
from memgene.testing import tiny_task

F1 = "token_f1"
FRESH = Sample(tiny_task(), tiny_task().questions[:4])


def cases(scores: Sequence[float | None]) -> tuple[Case, ...]:
    return tuple(
        Case(
            question_id=f"q{place}",
            group="one",
            category="all",
            question="?",
            gold=("x",),
            evidence=(),
            query={},
            context="",
            shown=0,
            hits=None,
            answer="",
            abstained=False,
            rule=None,
            scores={} if score is None else {F1: score},
        )
        for place, score in enumerate(scores)
    )


def member(name: str, static: float) -> Member:
    return Member(name, Program(name), static, None, 0, name, cases=cases([static] * 4))


class Candidates:
    """Fresh scores by name."""

    def __init__(self, fresh: dict[str, Sequence[float | None]]) -> None:
        self.fresh = fresh
        self.asked: list[str] = []

    def evaluate(self, name: str, *_: Any, **__: Any) -> Seen:
        self.asked.append(name)
        return Seen(cases(self.fresh[name]), Observed())


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path / "journal.jsonl")) as opened:
        yield opened


def named(
    journal: Journal,
    ranked: Sequence[Member],
    start: Member,
    fresh: dict[str, Sequence[float | None]],
    count: int = 2,
) -> str:
    found = Finalists(journal, Candidates(fresh), FRESH, F1, 0, count)  # type: ignore[arg-type]
    return found.choose(ranked, start).id


SEED, CHILD, OTHER = member("001", 0.40), member("003", 0.41), member("004", 0.405)


def test_a_child_whose_static_score_was_luck_does_not_stand_before_the_seed(
    journal: Journal, tmp_path: Path
) -> None:
    # mean 0.475 against 0.5: worse, though not beyond noise
    fresh = {"001": [0.5] * 4, "003": [1.0, 0.0, 0.9, 0.0]}
    assert named(journal, [CHILD, SEED], SEED, fresh, count=1) == "001"
    events = [entry.event for entry in read_journal(tmp_path / "journal.jsonl")]
    assert [e.kept for e in events if isinstance(e, Rechecked)] == [True]
    assert events[-1] == Promoted("001", fallback=True)


def test_the_best_of_those_that_hold_is_named(journal: Journal) -> None:
    fresh = {"001": [0.5] * 4, "003": [0.5] * 4, "004": [0.6] * 4}
    assert named(journal, [CHILD, OTHER, SEED], SEED, fresh) == "004"


def test_of_equals_the_first_is_named(journal: Journal) -> None:
    twin = member("005", 0.41)
    fresh = {"001": [0.5] * 4, "003": [0.5] * 4, "005": [0.5] * 4}
    assert named(journal, [CHILD, twin, SEED], SEED, fresh) == "003"


def test_those_that_are_surely_worse_are_out_whatever_their_static_score(journal: Journal) -> None:
    lucky = member("003", 0.99)
    fresh = {"001": [0.5] * 4, "003": [0.3] * 4}
    assert named(journal, [lucky, SEED], SEED, fresh, count=1) == "001"


def test_without_fresh_questions_to_score_the_best_on_static_ones_is_named(
    journal: Journal,
) -> None:
    unscored: dict[str, Sequence[float | None]] = {"001": [None] * 4}
    assert named(journal, [CHILD, SEED], SEED, unscored) == "003"
    assert named(journal, [CHILD, SEED], SEED, {}, count=0) == "003"
