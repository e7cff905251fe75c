"""A small run folder, written by hand: three rounds, two val categories, six test questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tomli_w

from memgene.core import FixedClock
from memgene.evaluation.case import Case, HitTrace
from memgene.evaluation.records import write_cases
from memgene.evolution import events as ev
from memgene.evolution.journal import Journal
from memgene.evolution.rundir import row_subject
from memgene.retrieval.config import RetrievalConfig

METRIC = "recall@10"
CLOCK = FixedClock(datetime(2026, 1, 2, tzinfo=UTC))
NASTY = "<script>alert('x')</script> & \"quotes\""


def case(
    name: str, score: float | None, *, group: str = "v1", category: str = "fact", answer: str = "a"
) -> Case:
    why = {
        "views": {"lexical": {"rank": 1, "score": 2.5}, "dense": {"rank": None, "score": 0.0}},
        "fused": 1.0,
        "factors": {"recency": 0.25, "utility": 0.0},
    }
    hits = (
        HitTrace("u1", ("m1",), 1.5, f"[8 May 2024] Ann: {NASTY}", "s1", why),
        HitTrace("u2", ("m2",), 0.5, "Bob: second", "s1", why),
    )
    return Case(
        question_id=name,
        group=group,
        category=category,
        question=f"What of {name}? {NASTY}",
        gold=("gold",),
        evidence=("m2", "m9"),
        query={"query_text": name},
        context="context",
        shown=1,
        hits=hits,
        answer=answer,
        abstained=False,
        rule="best sentence",
        scores={} if score is None else {METRIC: score, "token_f1": score / 2},
    )


def val(scores: Sequence[float]) -> list[Case]:
    """Four val questions, two of each category."""
    names = ("q1", "q2", "q3", "q4")
    categories = ("fact", "fact", "time", "time")
    return [
        case(n, s, category=c, answer=f"answer {s}")
        for n, c, s in zip(names, categories, scores, strict=True)
    ]


def held_out(scores: Sequence[float], groups: Sequence[str] = ("t1", "t2")) -> list[Case]:
    """Six test questions; their category follows their number."""
    return [
        case(f"{groups[0]}/{n}", s, group=groups[n % len(groups)], category=("fact", "time")[n % 2])
        for n, s in enumerate(scores)
    ]


START = RetrievalConfig()
CONFIGS = {
    "000": START,
    "001": START.changed(window=2),
    "002": START.changed(fusion="rrf"),
    "003": START.changed(window=2, neighbour_bonus=0.3),
}
VAL = {
    "000": (0.0, 1.0, 0.0, 0.5),
    "001": (0.5, 1.0, 0.0, 0.5),
    "002": (0.0, 0.0, 0.0, 0.5),
    "003": (1.0, 1.0, 0.0, 1.0),
}
TEST = {
    "evolved": (1.0, 1.0, 1.0, 0.5, 1.0, 0.0),
    "start": (0.0, 1.0, 0.5, 0.5, 0.5, 0.5),
    "bm25": (0.0, 0.0, 0.5, 0.0, 0.5, 0.5),
    "genome:a b": (1.0, 0.0, 1.0, 0.0, 1.0, 0.0),
}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def search_events() -> list[ev.Event]:
    """Start, an accepted, a reverted and a rejected round."""

    def proposed(round_: int, name: str, parent: str, by: str, reason: str) -> ev.Proposed:
        changes = {n: new for n, (_, new) in START.difference(CONFIGS[name]).items()}
        digest = CONFIGS[name].digest
        return ev.Proposed(round_, name, parent, by, changes, reason, digest, seconds=0.5)

    def evaluated(name: str) -> ev.Evaluated:
        score = _mean(VAL[name])
        usage = {"task": {"calls": 2, "fresh": 1, "tokens": 30, "cost": 0.5}}
        return ev.Evaluated(name, "val", 4, 4, score, 0, "d", usage, 1.25)

    causes = {"not_retrieved": 2, "ranked_low": 1}
    lost = {"not_retrieved": 0.5, "ranked_low": 0.25}
    diagnosed = [
        ev.Diagnosed(n, "000", 0.4, 3, causes, lost, ("when",), 0.0, ("d1",)) for n in (1, 2, 3)
    ]
    best = _mean(VAL["001"])
    return [
        ev.RunStarted("places", "config", METRIC, 0, 3, 5, 4, 0, "seed 0"),
        proposed(0, "000", "", "start", "preset default"),
        evaluated("000"),
        diagnosed[0],
        proposed(1, "001", "000", "rule", f"wider window {NASTY}"),
        evaluated("001"),
        ev.Accepted(1, "001", _mean(VAL["001"]), 0.125, 0.95, "P(gain) 0.95"),
        ev.RoundFinished(1, "001", _mean(VAL["001"]), "001", "001", best, 0),
        diagnosed[1],
        proposed(2, "002", "000", "rule", "another fusion"),
        evaluated("002"),
        ev.Rejected(2, "002", _mean(VAL["002"]), -0.375, 0.01, "P(gain) 0.01"),
        ev.Reverted(2, "002", "001", 0.375),
        ev.RoundFinished(2, "002", _mean(VAL["002"]), "001", "001", best, 1),
        diagnosed[2],
        ev.Explored(3, 2),
        proposed(3, "003", "001", "explore", "a random step"),
        evaluated("003"),
        ev.Rejected(3, "003", _mean(VAL["003"]), 0.25, 0.85, "P(gain) 0.85"),
        ev.RoundFinished(3, "003", _mean(VAL["003"]), "001", "001", best, 2),
        ev.Stopped(3, "rounds", "3 rounds"),
    ]


def final_events(groups: Sequence[str] = ("t1", "t2")) -> list[ev.Event]:
    return [
        ev.Rechecked("001", "000", 0.1, 0.9, 2, True),
        ev.Promoted("001", False),
        ev.TestOpened(6, tuple(groups)),
        *(ev.TestMeasured(name, _mean(scores), 6) for name, scores in TEST.items()),
        ev.Finished("abc", 3, 16),
    ]


def write_run(
    folder: Path,
    events: Sequence[ev.Event],
    *,
    final: bool = True,
    groups: Sequence[str] = ("t1", "t2"),
) -> Path:
    """Write the files a run of these events leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    run = {
        "format": 1,
        "git_revision": "abc123",
        "settings": {"task": "places", "strategy": "config", "metric": METRIC, "seed": 0},
        "data": {"places": "f00d"},
        "versions": {"memgene": "0.1.0"},
    }
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    journal = Journal(folder / "journal.jsonl", CLOCK)
    for event in events:
        journal.emit(event)
    journal.close()
    for name, config in CONFIGS.items():
        place = folder / "candidates" / name
        place.mkdir(parents=True)
        (place / "retrieval.toml").write_text(config.to_toml(), encoding="utf-8")
        dev = [case("d1", 0.0, group="d")]
        write_cases(place / "cases.jsonl", [*val(VAL[name]), *dev])
    if final:
        for name, scores in TEST.items():
            on_val = [] if name in ("evolved", "start") else val((0.0, 1.0, 0.0, scores[2]))
            path = folder / row_subject(name) / "cases.jsonl"
            write_cases(path, [*on_val, *held_out(scores, groups)])
        best = folder / "best"
        best.mkdir()
        (best / "retrieval.toml").write_text(CONFIGS["001"].to_toml(), encoding="utf-8")
    return folder


class ByHand:
    """The makers of this file, for tests that want another run than the usual one."""

    metric = METRIC
    search = staticmethod(search_events)
    final = staticmethod(final_events)
    write = staticmethod(write_run)

    def folds(self, folder: Path) -> Path:
        """Two folds, each tested on two groups of its own."""
        write_run(folder, [search_events()[0], final_events()[-1]], final=False)
        for number, groups in ((1, ("t1", "t2")), (2, ("t3", "t4"))):
            events = [*search_events(), *final_events(groups)]
            write_run(folder / f"fold-{number}", events, groups=groups)
        return folder


@pytest.fixture
def by_hand() -> ByHand:
    return ByHand()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "run"
    return write_run(folder, [*search_events(), *final_events()])
