"""A small co-evolution, written by hand: two cycles of router and memory, one state refused, one
turned away by fresh questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from memgene.bank.protocol import RelationKind, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import FixedClock
from memgene.engine.learned import LearnedMemory
from memgene.engine.learned_lines import Retired
from memgene.evaluation.case import Case, HitTrace
from memgene.evaluation.records import write_cases
from memgene.evolution import events as ev
from memgene.evolution.coevolve.events import (
    CoevolutionStarted,
    PhaseFinished,
    Retrained,
    WeightFixed,
)
from memgene.evolution.coevolve.picture import GraphPicture, PictureEdge, PictureNode
from memgene.evolution.coevolve.state import State
from memgene.evolution.event import Event
from memgene.evolution.journal import Journal
from memgene.evolution.rundir import row_subject
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.router import Router

METRIC = "recall@10"
NASTY = "<script>alert('x')</script> & \"quotes\""
ROUTES = ("dense", "sparse")
TYPES = {"q1": "when", "q2": "when", "q3": "single", "q4": "single"}
VAL = {
    "000": (0.0, 1.0, 0.0, 0.0),
    "001": (0.0, 1.0, 0.5, 0.5),
    "002": (1.0, 1.0, 0.5, 0.5),
    "003": (0.0, 1.0, 0.5, 0.5),
    "004": (1.0, 1.0, 1.0, 1.0),
}
DENSE = {
    "000": (0.5, 0.5, 0.5, 0.5),
    "001": (0.4, 0.2, 0.6, 0.6),
    "002": (0.4, 0.2, 0.6, 0.8),
    "003": (0.1, 0.1, 0.7, 0.7),
    "004": (0.1, 0.1, 0.7, 0.7),
}
FRESH = {"000": (1.0, 1.0), "002": (1.0, 1.0), "004": (0.0, 0.0)}
TEST = {
    "evolved": (1.0, 1.0, 0.0),
    "start": (0.0, 1.0, 0.5),
    "bm25": (0.0, 0.0, 0.5),
    "fixed-weight": (0.0, 1.0, 0.5),
}
QUANTILES = {"p5": 0.2, "p25": 0.4, "p50": 0.55, "p75": 0.7, "p95": 0.9}


def case(name: str, score: float, *, group: str = "v", dense: float | None = None) -> Case:
    weights = {} if dense is None else {"dense": dense, "sparse": 1 - dense}
    why = {"views": {}, "fused": 1.0, "factors": {}, "features": {}, "weights": weights}
    return Case(
        question_id=name,
        group=group,
        category="fact",
        question=f"What of {name}? {NASTY}",
        gold=("gold",),
        evidence=("m1",),
        query={},
        context="context",
        shown=1,
        hits=(HitTrace("u1", ("m1",), 1.5, f"Ann: {NASTY}", "s1", why),),
        answer="",
        abstained=False,
        rule=None,
        scores={METRIC: score},
        question_type=TYPES.get(name, ""),
        notes={"weights": weights} if weights else {},
    )


def router(bias: float) -> Router:
    fresh = Router.fresh(ROUTES, ("length",))
    head = {name: values.copy() for name, values in fresh.arrays.items()}
    head["head_bias"] = np.array([bias, -bias])
    return replace(fresh, arrays=head)


def config(by: Router | None = None) -> RetrievalConfig:
    two = {"fusion": "q_rrf", "lexical_k": 60, "dense_k": 60, "weight_dense": 1.0}
    return RetrievalConfig.minimal().changed(**two, router=by)


def distilled(name: str) -> MemoryUnit:
    metadata = {"distilled": True, "parents": ["u1"]}
    return MemoryUnit(f"tried {name} {NASTY}", id=name, metadata=metadata)


def learned(u1: float, u2: float, *made: str) -> LearnedMemory:
    """Values of two turns, one of them also for a kind of query, and of distilled memories."""
    values = [Value(name, "", 0.95, 3) for name in made]
    values += [Value("u1", "", u1, 4), Value("u1", "c1", 1.0, 2), Value("u2", "", u2, 1)]
    return LearnedMemory(
        tuple(values),
        tuple(distilled(name) for name in made),
        (Retired("u9", UnitStatus.ARCHIVED),) if made else (),
    )


EMPTY = LearnedMemory.empty()
FIRST, SECOND = router(0.25), router(1.0)
STATES = {
    "000": State(config(), EMPTY),
    "001": State(config(FIRST), EMPTY),
    "002": State(config(FIRST), learned(0.9, 0.25, "d1")),
    "003": State(config(SECOND), learned(0.9, 0.25, "d1")),
    "004": State(config(SECOND), learned(0.8, 0.25, "d1", "d2")),
}
PICTURE = GraphPicture(
    f"Where is the key? {NASTY}",
    (
        PictureNode("u1", f"The key is {NASTY}", 0.9, 4, 1),
        PictureNode("d1", "tried the drawer", 0.25, 1, 2, True),
        PictureNode("u2", "a neighbour", 0.5),
        PictureNode("u3", "another", 0.5),
    ),
    (
        PictureEdge(RelationKind.DENSE, "u1", "u2", 0.8),
        PictureEdge(RelationKind.SPARSE, "u1", "d1", 0.5),
        PictureEdge(RelationKind.TIME, "u3", "u1"),
    ),
    hidden=7,
)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _policy(when: float, single: float) -> Mapping[str, Mapping[str, float]]:
    shares = {"single": single, "when": when}
    return {kind: {"dense": share, "sparse": 1 - share} for kind, share in shares.items()}


def phase(
    number: int,
    who: str,
    curve: tuple[float, ...],
    policy: Mapping[str, Mapping[str, float]],
    *,
    complaint: str = "",
) -> PhaseFinished:
    name = f"{number:03d}"
    state = STATES[name]
    used = {"attribute": {"calls": 8, "fresh": 4, "tokens": 400, "cost": 0.5}}
    memory = who == "memory"
    return PhaseFinished(
        number=number,
        phase=who,
        cycle=(number + 1) // 2,
        candidate=name,
        parent=f"{number - 1:03d}",
        questions=4,
        played=4 if memory else 16,
        reward=_mean(curve),
        curve=curve,
        policy=policy,
        credited=6 if memory else 0,
        distilled=1 if memory else 0,
        values={"count": 3.0, "mean": 0.6, **QUANTILES} if number > 1 else {"count": 0.0},
        router=state.config.router.digest if state.config.router else "",
        memory=state.learned.digest,
        degraded=3 if complaint else 0,
        complaint=complaint,
        usage=used if memory else {},
        seconds=2.0,
    )


def search_events() -> list[Event]:
    """Router, memory, router (refused), memory (accepted, later turned away)."""

    def evaluated(name: str, split: str, scores: Sequence[float]) -> ev.Evaluated:
        n = len(scores)
        return ev.Evaluated(name, split, n, n, _mean(scores), 0, "d", {}, 0.5)

    def step(done: PhaseFinished, best: str, verdict: type[ev.Accepted] | type[ev.Rejected],
             delta: float) -> list[Event]:  # fmt: skip
        name, score = done.candidate, _mean(VAL[done.candidate])
        return [
            done,
            evaluated(name, "val", VAL[name]),
            verdict(done.number, name, score, delta, 0.9, f"P(gain) of {name}"),
            ev.RoundFinished(done.number, name, score, name, best, _mean(VAL[best]), 0),
        ]

    return [
        ev.RunStarted("places", "coevolve", METRIC, 0, 4, 4, 6, 2, "seed 0"),
        CoevolutionStarted("alternating", 4, 4, ROUTES, config().digest, {}, 1.0),
        evaluated("000", "val", VAL["000"]),
        *step(phase(1, "router", (0.25, 0.5), _policy(0.45, 0.55)), "001", ev.Accepted, 0.25),
        *step(
            phase(2, "memory", (0.5, 0.75), _policy(0.3, 0.7), complaint=f"no reply {NASTY}"),
            "002",
            ev.Accepted,
            0.25,
        ),
        *step(phase(3, "router", (0.6, 0.6), _policy(0.2, 0.7)), "002", ev.Rejected, -0.25),
        *step(phase(4, "memory", (0.75, 1.0), _policy(0.1, 0.7)), "004", ev.Accepted, 0.25),
        ev.Stopped(4, "rounds", "4 phases"),
        evaluated("004", "fresh", FRESH["004"]),
        evaluated("000", "fresh", FRESH["000"]),
        ev.Rechecked("004", "000", -1.0, 0.0, 2, False),
        evaluated("002", "fresh", FRESH["002"]),
        ev.Rechecked("002", "000", 0.0, 1.0, 2, True),
        ev.Promoted("002", True),
    ]


def final_events(group: str = "t1") -> list[Event]:
    used = {"attribute": {"calls": 2, "fresh": 2, "tokens": 100, "cost": 0.25}}
    return [
        Retrained("evolved", 2, 10, FIRST.digest, EMPTY.digest, used, 3.0),
        WeightFixed("fixed-weight", 0.45, 0.625, 10, 1.5),
        ev.TestOpened(3, (group,)),
        *(ev.TestMeasured(name, _mean(scores), 3) for name, scores in TEST.items()),
        ev.Finished("abc", 4, 60),
    ]


def write_run(folder: Path, events: Sequence[Event], *, group: str = "t1") -> Path:
    """Write the files a co-evolution of these events leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"task": "places", "strategy": "coevolve", "metric": METRIC, "seed": 0}
    run = {"format": 1, "settings": settings, "data": {"places": "f00d"}, "versions": {}}
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    clock = FixedClock(datetime(2026, 1, 2, tzinfo=UTC))
    journal = Journal(folder / "journal.jsonl", clock)
    for event in events:
        journal.emit(event)
    journal.close()
    for name, state in STATES.items():
        place = folder / "candidates" / name
        place.mkdir(parents=True)
        for file, content in state.files().items():
            data = content if isinstance(content, bytes) else content.encode()
            (place / file).write_bytes(data)
        pairs = zip(TYPES, VAL[name], DENSE[name], strict=True)
        cases = [case(q, score, dense=dense) for q, score, dense in pairs]
        cases += [case(f"f{n}", s) for n, s in enumerate(FRESH.get(name, ()))]
        write_cases(place / "cases.jsonl", cases)
    (folder / "candidates" / "002" / "graph.json").write_text(PICTURE.to_json(), encoding="utf-8")
    if any(isinstance(event, ev.Finished) for event in events):
        for row, scores in TEST.items():
            cases = [case(f"{group}/{n}", s, group=group) for n, s in enumerate(scores)]
            write_cases(folder / row_subject(row) / "cases.jsonl", cases)
        best = folder / "best"
        best.mkdir()
        for file, content in STATES["002"].files().items():
            data = content if isinstance(content, bytes) else content.encode()
            (best / file).write_bytes(data)
    return folder


class ByHand:
    """The makers of this file, for tests that want another run than the usual one."""

    states = STATES
    picture = PICTURE
    search = staticmethod(search_events)
    final = staticmethod(final_events)
    write = staticmethod(write_run)

    def folds(self, folder: Path) -> Path:
        """Two folds with a group each."""
        write_run(folder, [search_events()[0], final_events()[-1]])
        for number in (1, 2):
            group = f"t{number}"
            events = [*search_events(), *final_events(group)]
            write_run(folder / f"fold-{number}", events, group=group)
        return folder


@pytest.fixture
def coevolved() -> ByHand:
    return ByHand()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A co-evolution that is finished."""
    folder = tmp_path_factory.mktemp("reports") / "coevolved"
    return write_run(folder, [*search_events(), *final_events()])
