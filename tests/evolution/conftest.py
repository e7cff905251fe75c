"""Doubles for evolution: a task whose score is a known function of the configuration."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, Gold, LabelledQuestion, Question, RoleUsage, record
from memgene.evaluation.case import Case, HitTrace
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Candidates
from memgene.evolution.config_search import ConfigSearch, SearchOutcome, SearchTools
from memgene.evolution.consulting import Consultant
from memgene.evolution.guard import Guard, PairedGuard
from memgene.evolution.interrupt import Interruptible
from memgene.evolution.llm_proposer import LLMProposer
from memgene.evolution.preset import PRESETS, Preset
from memgene.evolution.proposers import Proposer, RandomProposer
from memgene.evolution.recorder import Recorder
from memgene.evolution.rules import RuleProposer
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal
from memgene.evolution.spending import Spending
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.levers import Need
from memgene.retrieval.ranker import Ranker
from memgene.tasks.task import Regime, Task

METRIC = "recall@10"
ALL_NEEDS = frozenset({Need.EMBEDDINGS, Need.WORD_VECTORS, Need.TRAINING})
Quality = Callable[[RetrievalConfig], float]


def question(name: str, group: str) -> LabelledQuestion:
    """A question with one piece of evidence."""
    return LabelledQuestion(
        Question(name, f"What about {name}?", group), Gold(("x",), (f"m{name}",))
    )


def case(name: str, group: str, score: float, **changes: object) -> Case:
    """A case whose evidence is in the pool, ranked first when it scores, else twelfth."""
    others = [HitTrace(f"u{i}", (f"other{i}",), 1.0, "") for i in range(11)]
    found = HitTrace("u", (f"m{name}",), 1.0, "")
    values: dict[str, object] = {
        "question_id": name,
        "group": group,
        "category": "all",
        "question": f"What about {name}?",
        "gold": ("x",),
        "evidence": (f"m{name}",),
        "query": {},
        "context": "",
        "shown": 10,
        "hits": tuple([found, *others] if score >= 1 else [*others, found]),
        "answer": "",
        "abstained": False,
        "rule": None,
        "scores": {METRIC: score},
        "bank_evidence": 1.0,
        "pool_evidence": 1.0,
        "question_type": "single",
    }
    return Case(**{**values, **changes})  # type: ignore[arg-type]


class SyntheticEvaluator:
    """Question number i of n is found when (i + ½) / n is below the quality of the configuration.

    Counts what it is asked; one call of role `task` per question unless `counts` is off.
    """

    def __init__(self, quality: Quality) -> None:
        self.quality = quality
        self.labels: list[str] = []
        self.asked = 0
        self.counts = True
        self.before: Callable[[], None] = lambda: None

    def evaluate(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion], label: str
    ) -> list[Case]:
        self.before()
        self.labels.append(label)
        self.asked += len(questions)
        reached = self.quality(config)
        n = len(questions)
        if self.counts:
            record("task", RoleUsage(n, n, tokens_in=2 * n))
        return [
            case(q.id, q.group, float((i + 0.5) / n < reached)) for i, q in enumerate(questions)
        ]


class CountingLearner:
    """Weights that say how many questions they were fitted on; counts its fits."""

    def __init__(self) -> None:
        self.fits = 0

    def __call__(self, config: RetrievalConfig, questions: Sequence[LabelledQuestion]) -> Ranker:
        self.fits += 1
        value = float(config.window)
        return Ranker({"bm25": 1 + value}, {"bm25": 0.25}, {"bm25": 1.5}, questions=len(questions))


@dataclass
class World:
    """A search over synthetic questions in a run folder of its own."""

    path: Path
    quality: Quality
    preset: Preset = PRESETS["default"]
    seed: int = 0
    rounds: int = 6
    budget: Budget = field(default_factory=Budget)
    guard: Guard = field(default_factory=PairedGuard)
    proposer: Proposer | None = None
    needs: frozenset[Need] = ALL_NEEDS
    interrupt: Interruptible = field(default_factory=Interruptible)
    fresh: int = 30
    models: RoleModels | None = None

    def __post_init__(self) -> None:
        self.evaluator = SyntheticEvaluator(self.quality)
        self.learner = CountingLearner()
        self.meter = BudgetMeter(self.budget)
        self.told: list[tuple[int, float | None, float | None]] = []

    @property
    def data(self) -> DevVal:
        """60 dev questions, 60 to select on, and some fresh ones, in three groups."""
        dev = tuple(question(f"d{i}", "a") for i in range(60))
        select = tuple(question(f"v{i}", "bc"[i % 2]) for i in range(60))
        fresh = tuple(question(f"f{i}", "bc"[i % 2]) for i in range(self.fresh))
        questions = (*dev, *select, *fresh)
        task = Task("synthetic", (), questions, Regime.OWN_GROUP, METRIC, "f")
        return DevVal(task, None, dev, dev, select, fresh)

    def search(self, resume: bool = False) -> SearchOutcome:
        """Run or resume the search."""
        settings = {"seed": self.seed, "rounds": self.rounds}
        with RunFolder.open(self.path, settings, {"synthetic": "f"}, resume=resume) as run:
            ledger = self.models.ledger if self.models else None
            spending = Spending(run.journal, self.meter, ledger)
            recorder = Recorder(run, METRIC, self.meter, spending)
            data, most = self.data, self.preset.max_changes
            made = Candidates(
                run,
                recorder,
                self.meter,
                spending,
                self.evaluator,
                self.learner,
                data,
                METRIC,
            )
            tools = SearchTools(
                run.journal,
                made,
                self.meter,
                self.proposer or self._proposer(run, spending),
                RandomProposer(self.needs, METRIC, most, "exploring"),
                self.guard,
                self.interrupt,
                lambda *state: self.told.append(state),
            )
            return ConfigSearch(tools, data, self.preset, METRIC, self.seed, self.rounds).run()

    def _proposer(self, run: RunFolder, spending: Spending) -> Proposer:
        """The rules, or a model that is set to diagnose."""
        most = self.preset.max_changes
        rules = RuleProposer(self.needs, METRIC, most)
        llm = self.models.get("diagnose") if self.models else None
        if llm is None:
            return rules
        return LLMProposer(
            Consultant(llm, self.needs, METRIC, most), rules, run, self.meter, spending
        )


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests die with their process, not with the machine; syncing would only make them slow."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def make_case() -> Callable[..., Case]:
    return case


@pytest.fixture
def make_question() -> Callable[[str, str], LabelledQuestion]:
    return question


@pytest.fixture
def world() -> type[World]:
    return World


@pytest.fixture
def all_needs() -> frozenset[Need]:
    return ALL_NEEDS


@pytest.fixture(scope="session")
def noisy() -> Any:
    """The module of the small real task: `noisy_task`, `settings`, and its file as a program."""
    path = Path(__file__).with_name("evolve_noisy.py")
    spec = importlib.util.spec_from_file_location("evolve_noisy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
