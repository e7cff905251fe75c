"""A stage is proposed for what it does to the rankings of dev questions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from memgene.core import Gold, Hit, LabelledQuestion, Question
from memgene.evaluation.case import Case
from memgene.evolution.diagnosis import Diagnosis, diagnose
from memgene.evolution.proposers import Attempt, Proposal
from memgene.evolution.stages.discovering import Discoverer, Discovery
from memgene.evolution.stages.proposing import StageProposer
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox import Level

GOOD = Stage(
    "good",
    'KIND = "rescorer"\nABOUT = "likes gold"\n'
    "def scores(query, hits):\n    return [float('gold' in h['text']) for h in hits]\n",
)
BAD = Stage("bad", GOOD.source.replace("likes gold", "dislikes gold").replace("[float", "[-float"))
BROKEN = Stage("broken", GOOD.source.replace("float(", "missing("))
LAST = Stage(
    "last",
    'KIND = "filter"\nABOUT = "turns round"\n'
    "def keep(query, hits):\n    return list(range(len(hits)))[::-1]\n",
)
QUESTIONS = [
    LabelledQuestion(Question(name, f"Where is {name}?", "g"), Gold(("x",), (f"m{name}",)))
    for name in ("a", "b")
] + [LabelledQuestion(Question("c", "No evidence?", "g"), Gold(("x",)))]


def ranked(
    config: RetrievalConfig, questions: Sequence[LabelledQuestion], limit: int
) -> list[tuple[Hit, ...]]:
    """Gold is third of three, 0.2 behind the first."""
    del config
    return [
        (
            Hit("u1", "straw", 0.9, refs=("other",)),
            Hit("u2", "straw", 0.8, refs=("other",)),
            Hit("u3", "gold", 0.7, refs=q.gold.evidence),
        )[:limit]
        for q in questions
    ]


@pytest.fixture(scope="module")
def host() -> Iterator[SandboxedStages]:
    with SandboxedStages(require=Level.RLIMITS) as made:
        yield made


def discover(host: SandboxedStages, *stages: Stage, k: int = 1) -> list[Discovery]:
    return Discoverer(ranked, QUESTIONS, host, k, stages).discover(RetrievalConfig())


def test_a_stage_that_lifts_evidence_is_found_with_the_least_strength_that_does(
    host: SandboxedStages,
) -> None:
    [found] = discover(host, GOOD, BAD)
    # 0.1 lifts gold to 0.8, behind the first; 0.25 to 0.95, before it.
    assert (found.stage, found.strength) == (GOOD, 0.25)
    assert (found.before, found.after, found.questions) == (0.0, 1.0, 2)
    assert "evidence among the first 1 of 2 dev questions 0.0 → 100.0" in found.reason


def test_filters_are_tried_too_and_the_best_comes_first(host: SandboxedStages) -> None:
    found = discover(host, LAST, GOOD, k=1)
    assert [each.stage.name for each in found] == ["last", "good"]


def test_what_helps_nothing_or_breaks_is_not_found(host: SandboxedStages) -> None:
    assert discover(host, BAD, BROKEN) == []
    assert discover(host, GOOD, k=3) == []  # all three are among the first three
    assert Discoverer(ranked, QUESTIONS[2:], host, 1, (GOOD,)).discover(RetrievalConfig()) == []


CASE = Case(
    question_id="q", group="g", category="fact", question="Who?", gold=("Ann",), evidence=(),
    query={}, context="text", shown=0, hits=None, answer="Bob", abstained=False, rule=None,
    scores={"token_f1": 0.0},
)  # fmt: skip
FOUND = [Discovery(GOOD, 0.25, 0.0, 1.0, 2, 1), Discovery(LAST, 1.0, 0.0, 0.5, 2, 1)]


class Inner:
    """Has one idea, or none."""

    name = "inner"

    def __init__(self, *ideas: Proposal) -> None:
        self.ideas = list(ideas)

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        return self.ideas.pop(0) if self.ideas else None


def asked(proposer: StageProposer, config: RetrievalConfig, *history: Attempt) -> Proposal | None:
    return proposer.propose(diagnose([CASE], "token_f1"), config, history, random.Random(0))


def test_every_second_round_tries_the_best_stage_that_was_not_tried() -> None:
    idea = Proposal((), "an idea")
    proposer = StageProposer(Inner(idea), lambda config: FOUND)
    config = RetrievalConfig()
    assert asked(proposer, config) is idea
    first = asked(proposer, config, Attempt(config.digest, (), 0.0, False))
    assert first is not None
    assert (first.by, first.changes[0].lever, first.changes[0].value) == (
        "stages",
        "stage.good",
        0.25,
    )
    tried = Attempt(config.digest, first.changes, 0.0, False)
    second = asked(proposer, config, tried)
    assert second is not None
    assert second.changes[0].lever == "stage.last"


def test_a_stage_that_is_there_is_not_added_again() -> None:
    proposer = StageProposer(Inner(), lambda config: FOUND[:1])
    assert asked(proposer, RetrievalConfig().with_stage(GOOD, 1.0)) is None
