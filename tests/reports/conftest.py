"""Small run folders, written by hand: three rounds of configurations, six iterations of
programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tomli_w

from memgene.core import FixedClock
from memgene.evaluation.case import Case, HitTrace
from memgene.evaluation.records import write_cases
from memgene.evolution import events as ev
from memgene.evolution.journal import Journal
from memgene.evolution.programs import events as pe
from memgene.evolution.programs.patch import patch_of
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


PROGRAM_METRIC = "token_f1"
PARENTS = {
    "000": "",
    "001": "",
    "002": "",
    "003": "000",
    "004": "000",
    "005": "003",
    "006": "003",
    "006.1": "003",
    "007": "001",
    "008": "006.1",
    "008.1": "006.1",
}
STATIC = {
    "000": (0.0, 1.0, 0.0, 0.5),
    "001": (0.0, 0.0, 0.0, 0.5),
    "003": (1.0, 1.0, 0.0, 0.5),
    "006": (0.0, 0.0, 0.0, 0.0),
    "006.1": (1.0, 1.0, 0.0, 0.0),
    "008": (0.0, 0.0, 0.0, 0.0),
    "008.1": (0.0, 0.0, 0.0, 0.0),
}
FRESH = {"000": (0.5, 0.0), "003": (0.5, 1.0), "006.1": (0.0, 0.0)}


def source_of(name: str) -> str:
    """A stand-in for a program; reports show its text and nothing else."""
    return f'"""Program {name}."""\nORDER = "{name}"\nNASTY = """{NASTY}"""\n'


def answered(name: str, score: float, *, group: str = "v1", broke: bool = False) -> Case:
    """A case of a memory that returns text without a ranking."""
    return replace(
        case(name, None, group=group, answer="" if broke else f"answer {score}"),
        hits=None,
        context="" if broke else f"text read for {name}",
        failure="read/raised: KeyError: 'x'" if broke else None,
        scores={PROGRAM_METRIC: score},
    )


def static(name: str) -> list[Case]:
    names = ("q1", "q2", "q3", "q4")
    return [
        answered(q, score, group=f"v{q}", broke=name == "006.1" and q == "q4")
        for q, score in zip(names, STATIC[name], strict=True)
    ]


def program_events() -> list[ev.Event]:
    """Three seeds (one refused), then one draft an iteration: a gain, a duplicate, one that the
    paired gate stops, one that breaks and is mended, none at all, one that cannot be mended."""

    def drafted(
        n: int, name: str, title: str, *, refused: str = "", attempts: int = 1
    ) -> pe.Drafted:
        by = "llm" if PARENTS[name] else "seed"
        digest = "" if name == "007" else f"d{name}"
        said = f"why {name}: {NASTY}" if PARENTS[name] else ""
        usage = {"reflector": {"calls": attempts, "fresh": attempts, "tokens": 100, "cost": 0.25}}
        return pe.Drafted(
            n, name, PARENTS[name], by, title, said, digest, f"n{name}", attempts, refused, "",
            usage if by == "llm" else {}, 0.5,
        )  # fmt: skip

    def evaluated(name: str, split: str, scores: Sequence[float]) -> ev.Evaluated:
        n = len(scores)
        return ev.Evaluated(name, split, n, n, _mean(scores), 0, "d", {}, 0.25)

    def joined(n: int, name: str, failures: int = 0) -> pe.Joined:
        score = _mean(STATIC[name])
        parent = PARENTS[name]
        delta = score - _mean(STATIC[parent]) if parent else 0.0
        return pe.Joined(n, name, parent, score, delta, delta < 0, failures)

    def sampled(n: int, name: str) -> list[ev.Event]:
        return [
            pe.Sampled(n, 0, name, 0.5, ("d1", "d2")),
            evaluated(f"rotating/{n:03d}-0", "dev", (0.0, 0.5)),
        ]

    def finished(n: int, best: str = "003") -> pe.IterationFinished:
        return pe.IterationFinished(n, 4, best, _mean(STATIC[best]))

    return [
        ev.RunStarted("places", "program", PROGRAM_METRIC, 0, 6, 5, 4, 2, "seed 0"),
        pe.ProgramsStarted(4, 2, ("vector", "lists", "hybrid"), "population", 3),
        drafted(0, "000", "vector"),
        evaluated("000", "static", STATIC["000"]),
        joined(0, "000"),
        drafted(0, "001", "lists"),
        evaluated("001", "static", STATIC["001"]),
        joined(0, "001"),
        drafted(0, "002", "hybrid", refused="the gates refuse it: no write"),
        pe.Refused(0, "002", "", "draft", "the gates refuse it: no write"),
        *sampled(1, "000"),
        drafted(1, "003", f"Shorter chunks {NASTY}", attempts=2),
        evaluated("003", "gate", STATIC["003"][:2]),
        evaluated("003", "static", STATIC["003"]),
        joined(1, "003"),
        finished(1),
        *sampled(2, "000"),
        drafted(2, "004", "Shorter chunks again"),
        pe.Refused(2, "004", "000", "duplicate", "the same program as 003"),
        finished(2),
        *sampled(3, "003"),
        drafted(3, "005", "Longer chunks"),
        evaluated("005", "gate", (0.0, 0.0)),
        pe.Refused(3, "005", "003", "gate", "its parent is better on 2 paired questions"),
        finished(3),
        *sampled(4, "003"),
        drafted(4, "006", "Facts apart"),
        evaluated("006", "static", STATIC["006"]),
        drafted(4, "006.1", "Facts apart, mended"),
        evaluated("006.1", "static", STATIC["006.1"]),
        joined(4, "006.1", failures=1),
        finished(4),
        *sampled(5, "001"),
        drafted(5, "007", "", refused="no reply held a program", attempts=4),
        pe.Refused(5, "007", "001", "draft", "no reply held a program"),
        finished(5),
        *sampled(6, "006.1"),
        drafted(6, "008", "A table of people"),
        evaluated("008", "static", STATIC["008"]),
        drafted(6, "008.1", "A table of people, mended"),
        evaluated("008.1", "static", STATIC["008.1"]),
        pe.Refused(6, "008", "006.1", "runtime", "it still breaks at work: KeyError"),
        finished(6),
        ev.Stopped(6, "rounds", "6 iterations"),
        evaluated("000", "fresh", FRESH["000"]),
        evaluated("003", "fresh", FRESH["003"]),
        ev.Rechecked("003", "000", 0.5, 0.9, 2, True),
        evaluated("006.1", "fresh", FRESH["006.1"]),
        ev.Rechecked("006.1", "000", -0.25, 0.01, 2, False),
        ev.Promoted("003", False),
    ]  # fmt: skip


PROGRAM_TEST = {
    "evolved": (1.0, 1.0, 0.0),
    "start": (0.0, 1.0, 0.5),
    "seed:vector": (0.0, 1.0, 0.5),
}


def program_final(group: str = "t1") -> list[ev.Event]:
    return [
        ev.TestOpened(3, (group,)),
        *(ev.TestMeasured(name, _mean(scores), 3) for name, scores in PROGRAM_TEST.items()),
        ev.Finished("abc", 6, 30),
    ]


def write_programs(folder: Path, events: Sequence[ev.Event], *, group: str = "t1") -> Path:
    """Write the files a program run of these events leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "task": "places",
        "strategy": "program",
        "metric": PROGRAM_METRIC,
        "seed": 0,
        "program": {"iterations": 6, "seeds": ["vector", "lists"]},
    }
    run = {"format": 1, "settings": settings, "data": {"places": "f00d"}, "versions": {}}
    (folder / "run.toml").write_text(tomli_w.dumps(run), encoding="utf-8")
    journal = Journal(folder / "journal.jsonl", CLOCK)
    for event in events:
        journal.emit(event)
    journal.close()
    for name, parent in PARENTS.items():
        place = folder / "candidates" / name
        place.mkdir(parents=True)
        if name == "007":
            continue
        (place / "program.py").write_text(source_of(name), encoding="utf-8")
        if parent:
            patch = patch_of(parent, source_of(parent), name, source_of(name))
            (place / "patch.diff").write_text(patch, encoding="utf-8")
            (place / "reflection.md").write_text("# said", encoding="utf-8")
        cases = static(name) if name in STATIC else []
        if name == "005":
            cases = [answered("q1", 0.0, group="vq1"), answered("q2", 0.0, group="vq2")]
        fresh = [answered(f"f{n}", s, group="f") for n, s in enumerate(FRESH.get(name, ()))]
        if cases:
            write_cases(place / "cases.jsonl", [*cases, *fresh])
    if any(isinstance(event, ev.Finished) for event in events):
        for name, scores in PROGRAM_TEST.items():
            cases = [answered(f"{group}/{n}", s, group=group) for n, s in enumerate(scores)]
            write_cases(folder / row_subject(name) / "cases.jsonl", cases)
        best = folder / "best"
        best.mkdir()
        (best / "retrieval.toml").write_text(START.to_toml(), encoding="utf-8")
        (best / "program.py").write_text(source_of("003"), encoding="utf-8")
    return folder


class ByHand:
    """The makers of this file, for tests that want another run than the usual one."""

    metric = METRIC
    search = staticmethod(search_events)
    final = staticmethod(final_events)
    write = staticmethod(write_run)
    programs = staticmethod(program_events)
    program_final = staticmethod(program_final)
    write_programs = staticmethod(write_programs)

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


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program run that is finished."""
    folder = tmp_path_factory.mktemp("reports") / "programs"
    return write_programs(folder, [*program_events(), *program_final()])
