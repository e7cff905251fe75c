"""How credit is given; every number of CoEvo-Mem §4 by name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memgene.core import InputError


class Rule(StrEnum):
    """The residual of an exposed memory with value Q, attribution u, reward R.

    `td` (published): R·u + γ·Q(new memory) − Q. `gap`: u·(R − Q). `used`: R − Q for the memories
    with the highest attribution, if it is more than being shown gives, nothing for the others.
    """

    TD = "td"
    GAP = "gap"
    USED = "used"


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """`alpha` is the step, `gamma` the share of the new memory's value in a `td` residual.

    `hops` is how far credit goes along edges (0: only exposed memories), times `rho_…` of each
    edge passed; time edges pass it to predecessors only. `conditional` keeps a value per memory
    and cluster of queries beside the memory's mean; a reader's lever `value_shrink` says how the
    two are joined. `new_value` says what a distilled memory starts with:
    the mean value of its `sources` (published), or the `reward`.

    A query that is less than `cluster_cosine` near to every kind of query known starts a new one,
    up to `clusters_most`; from then on it belongs to the nearest.
    """

    rule: Rule = Rule.USED
    alpha: float = 0.3
    gamma: float = 0.5
    hops: int = 0
    rho_dense: float = 0.5
    rho_sparse: float = 0.4
    rho_time: float = 0.3
    conditional: bool = True
    new_value: str = "reward"
    clusters_most: int = 64
    cluster_cosine: float = 0.45

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "rule", Rule(self.rule))
        except ValueError:
            known = ", ".join(Rule)
            raise InputError(f"credit rule is one of {known}; got {self.rule!r}") from None
        for name in ("hops", "clusters_most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"credit {name} must be a whole number, got {value!r}")
        for name in ("alpha", "gamma", "rho_dense", "rho_sparse", "rho_time"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"credit {name} must lie in [0, 1], got {getattr(self, name)}")
        if self.hops < 0:
            raise InputError(f"credit hops must be 0 or more, got {self.hops}")
        if self.clusters_most < 0 or not -1 <= self.cluster_cosine <= 1:
            raise InputError(
                "credit clusters_most must be 0 or more and cluster_cosine lie in [-1, 1], got "
                f"{self.clusters_most} and {self.cluster_cosine}"
            )
        if self.new_value not in ("sources", "reward"):
            raise InputError(f"credit new_value is sources or reward, got {self.new_value!r}")

    @classmethod
    def paper(cls) -> CreditSettings:
        """As published, with our choices for what is not."""
        return cls(Rule.TD, hops=2, conditional=False, new_value="sources")
