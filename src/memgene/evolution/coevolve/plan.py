"""How router and bank are evolved together: the published loop, ours, and every ablation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memgene.core import InputError
from memgene.engine.credit.settings import CreditSettings
from memgene.evolution.plan_text import choice, parts_of, plain_value, read_value
from memgene.retrieval.config import Q_RRF, RetrievalConfig, levers
from memgene.retrieval.router.settings import RouterSettings


class Schedule(StrEnum):
    """Who learns when (CoEvo-Mem §5).

    `alternating`: a pass for the router, a pass for the memory, and again. `simultaneous`: both
    after every interaction. `two-stage`: the router to the end, then the memory.
    """

    ALTERNATING = "alternating"
    SIMULTANEOUS = "simultaneous"
    TWO_STAGE = "two-stage"


class Evolving(StrEnum):
    """What of the memory learns: `full`; `items`: values of the exposed memories alone, no credit
    along edges; `frozen`: nothing. The last two are the two readings of the published ablation."""

    FULL = "full"
    ITEMS = "items"
    FROZEN = "frozen"


class Attribution(StrEnum):
    """Who says what part a shown memory had in the answer.

    `evidence`: 1 when it holds gold evidence of the dev question or the answer's words, else 0.25.
    `top`: 1 for the first, which an agent that follows one memory takes, 0.25 for the others.
    `cited`: by the answer's words alone. `llm`: a language model.
    """

    EVIDENCE = "evidence"
    TOP = "top"
    CITED = "cited"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class CoevolvePlan:
    """Settings of a co-evolution.

    Attributes:
        schedule: who learns when.
        cycles: how often every learner has its pass over the training questions.
        router: whether there is one that learns.
        memory: what of the memory learns.
        base: what both start from: a genome, a run, or a run with folds (each fold its own).
            Empty: the preset's configuration.
        fit: fit the learned fusion on dev first (where the base has none).
        attribution: who says what part a shown memory had.
        noise: share of attributions that are turned round (1 ↔ 0.25), for the noise study.
        explore: share of memory interactions in which another shown memory takes the first place.
        distil: every trajectory, success or not, becomes a memory.
        link: build the memory graph (needed by credit along edges and by expansion).
        check_time: a language model checks the edges in time.
        most: units a memory may hold before it is thinned out; None: it only grows.
        follow: acceptance is best-so-far on val (published runs keep what they learn); else a
            state has to be better than the incumbent beyond noise.
        credit, learner: how values and the router learn.
        levers: levers of the starting configuration that are set to other values.
    """

    schedule: Schedule = Schedule.ALTERNATING
    cycles: int = 3
    router: bool = True
    memory: Evolving = Evolving.FULL
    base: str = ""
    fit: bool = True
    attribution: Attribution = Attribution.EVIDENCE
    noise: float = 0.0
    explore: float = 0.0
    distil: bool = False
    link: bool = False
    check_time: bool = False
    most: int | None = None
    follow: bool = False
    credit: CreditSettings = CreditSettings()  # noqa: RUF009 - frozen
    learner: RouterSettings = RouterSettings()  # noqa: RUF009 - frozen
    levers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            choice(self, name, kind)
        if not _whole(self.cycles):
            raise InputError(f"cycles must be a whole number, 1 or more, got {self.cycles!r}")
        for name in ("noise", "explore"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must lie in [0, 1], got {getattr(self, name)}")
        if self.most is not None and not _whole(self.most):
            raise InputError(f"most must be a whole number, 1 or more, got {self.most!r}")
        if self.credited().hops and self.memory is not Evolving.FROZEN and not self.link:
            raise InputError("credit along edges (hops) needs the memory graph: set link=true")
        if not self.router and self.memory is Evolving.FROZEN:
            raise InputError("nothing would evolve: router=false and memory=frozen")
        if self.memory is Evolving.FROZEN and self.distil:
            object.__setattr__(self, "distil", False)
        checked = {name: levers()[name].checked(value) for name, value in self.levers.items()}
        object.__setattr__(self, "levers", MappingProxyType(dict(sorted(checked.items()))))

    @classmethod
    def paper(cls, *, model: bool = False) -> CoevolvePlan:
        """As published, with the choices of ours that CoEvo-Mem leaves open: two routes, values by
        rank, credit along the graph, one distilled memory per trajectory, no guard. With a `model`
        it rewrites queries, attributes, and checks edges in time; else rules and gold do."""
        return cls(
            attribution=Attribution.LLM if model else Attribution.EVIDENCE,
            check_time=model,
            levers={
                "fusion": Q_RRF,
                "self_routing": "llm" if model else "rules",
                "graph_expansion": True,
            },
            fit=False,
            distil=True,
            link=True,
            follow=True,
            credit=CreditSettings.paper(),
            learner=RouterSettings.paper(),
        )

    def start(self) -> RetrievalConfig:
        """The configuration where no `base` gives one, levers applied: the default one, or for
        fusion `q_rrf` the published retriever, which has two routes and nothing else."""
        config = RetrievalConfig()
        if self.levers.get("fusion") == Q_RRF:
            config = RetrievalConfig.minimal().changed(**_TWO_ROUTES, context_k=config.context_k)
        return config.changed(**self.levers)

    def credited(self) -> CreditSettings:
        """How values learn: credit goes along edges only where the whole memory evolves."""
        if self.memory is Evolving.ITEMS:
            return replace(self.credit, hops=0)
        return self.credit

    def parsed(self, text: str) -> CoevolvePlan:
        """Changed as `schedule=two-stage,rule=td,utility_weight=0.3` says, the command line's form.

        Names are those of the plan, of its credit and learner, and of levers of retrieval.
        Raises InputError for an unknown setting or a value that is none.
        """
        own: dict[str, Any] = {}
        credit: dict[str, Any] = {}
        learner: dict[str, Any] = {}
        turned: dict[str, Any] = dict(self.levers)
        for name, value in parts_of(text):
            if value == "none" and name not in _MAY_BE_ABSENT:
                raise InputError(f"{name} cannot be absent, got 'none'")
            for place, into in ((self, own), (self.credit, credit), (self.learner, learner)):
                kinds = {f.name: getattr(place, f.name) for f in fields(place)}
                if name in kinds and name not in _NESTED:
                    into[name] = read_value(name, value, kinds[name], absent=name in _MAY_BE_ABSENT)
                    break
            else:
                if name not in levers():
                    known = ", ".join(sorted(self._names()))
                    raise InputError(
                        f"a plan has no {name!r}; it has {known}, and every lever of retrieval"
                    )
                turned[name] = read_value(name, value, levers()[name].default)
        return replace(
            self,
            **own,
            credit=replace(self.credit, **credit),
            learner=replace(self.learner, **learner),
            levers=turned,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as run.toml keeps them; settings that are absent are left out."""
        values: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in ("credit", "learner"):
                value = {g.name: plain_value(getattr(value, g.name)) for g in fields(value)}
                value = {name: v for name, v in value.items() if v is not None}
            elif f.name == "levers":
                value = dict(value)
            if value is not None and value != {}:
                values[f.name] = plain_value(value)
        return values

    def _names(self) -> set[str]:
        places: tuple[Any, ...] = (self, self.credit, self.learner)
        return {f.name for place in places for f in fields(place)} - _NESTED


_NESTED = frozenset(("credit", "learner", "levers"))
_MAY_BE_ABSENT = frozenset(("most", "bound"))
_CHOICES: Mapping[str, type[StrEnum]] = MappingProxyType(
    {"schedule": Schedule, "memory": Evolving, "attribution": Attribution}
)
_TWO_ROUTES = MappingProxyType(
    {"fusion": Q_RRF, "lexical_k": 60, "dense_k": 60, "weight_dense": 1.0}
)


def _whole(value: Any) -> bool:
    """Whether it is a whole number of 1 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
