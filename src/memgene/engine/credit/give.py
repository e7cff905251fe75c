"""One interaction's credit: values of what was shown, of its neighbours, of the new memory.

Source: CoEvo-Mem §4, with MemRL's update (`gap`, `used`) and values per kind of query beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memgene.bank.protocol import Fate, Filter, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import InputError, NotFoundError, Scope
from memgene.engine.credit.attributing import SHOWN
from memgene.engine.credit.distilling import DISTILLED, PARENTS, REWARD
from memgene.engine.credit.interaction import Credited, Interaction, ValueChange
from memgene.engine.credit.settings import CreditSettings, Rule
from memgene.engine.credit.spread import Reached, reach, spread
from memgene.engine.engine import MemoryEngine
from memgene.engine.linking.state import STATE as LINKS
from memgene.retrieval.clusters import STATE, QueryClusters, query_vector

_EVERY = Filter(statuses=tuple(UnitStatus))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """Values before the interaction. `means` has one of each unit, `learned` those that are
    stored, by unit and cluster."""

    means: Mapping[str, float]
    learned: Mapping[tuple[str, str], Value]

    def before(self, unit_id: str, cluster: str) -> float:
        """A value; one for a kind of query starts at the memory's mean."""
        stored = self.learned.get((unit_id, cluster))
        return self.means[unit_id] if stored is None else stored.q

    def exposures(self, unit_id: str, cluster: str) -> int:
        """How often it was learned from."""
        stored = self.learned.get((unit_id, cluster))
        return 0 if stored is None else stored.exposures


def give_credit(
    engine: MemoryEngine,
    interaction: Interaction,
    settings: CreditSettings,
    *,
    scope: Scope | None = None,
    link: bool = True,
) -> Credited:
    """Learn from one interaction, in one transaction: `Q ← clip(Q + α·Δ, 0, 1)`.

    Every change is computed from the values and edges before the interaction, so the order of the
    exposures does not matter. An exposed memory moves by its own residual alone (`Rule`), those
    within `settings.hops` of it by relational credit. With `conditional`, the value for the
    query's kind moves by its own residual too; a neighbour's does where it has one. Exposures
    count where the rule has something to say of a memory. A unit shown twice counts once, with
    its highest attribution.

    Args:
        scope: whose memory it is; units it does not admit are not known. None: all owners.
        link: give the distilled memory its edges at once, where the bank has a graph; without,
            the next `engine.link` does.

    Raises:
        NotFoundError: an exposed memory is not there.
        InputError: a reward or attribution outside [0, 1], or a new memory the bank refuses.
    """
    shown = _checked(interaction)
    with engine.bank.atomic():
        cluster = _cluster(engine, interaction.query, settings)
        reached = reach(list(shown), engine.bank.relations, settings)
        before = _snapshot(engine, shown, reached, scope)
        reached = [one for one in reached if one.unit_id in before.means]
        start = _start(interaction, shown, before, settings)
        moved = _moved(interaction.reward, shown, reached, before, start, cluster, settings)
        engine.bank.set_values([value for value, _ in moved])
        added = None
        if interaction.distilled is not None:
            added = _add(engine, interaction, list(shown), start, link)
    changes = tuple(
        ValueChange(v.unit_id, v.cluster, old, v.q, hops)
        for v, hops in moved
        if v.q != (old := before.before(v.unit_id, v.cluster))
    )
    return Credited(changes, added, cluster)


def residuals(
    reward: float,
    shown: Mapping[str, float],
    values: Mapping[str, float],
    bootstrap: float,
    settings: CreditSettings,
) -> dict[str, float]:
    """The residual δ of each exposed memory the rule speaks of.

    `td`: R·u + γ·bootstrap − Q for all; `gap`: u·(R − Q) for those with u > 0; `used`: R − Q for
    those with the highest u, where it is above that of memories that were merely shown.

    Args:
        shown: attribution u by unit id; values: Q by unit id.
        bootstrap: the first value of the new memory, 0 without one (the interaction ends there).
    """
    if settings.rule is Rule.TD:
        ahead = settings.gamma * bootstrap
        return {unit: reward * u + ahead - values[unit] for unit, u in shown.items()}
    if settings.rule is Rule.GAP:
        return {unit: u * (reward - values[unit]) for unit, u in shown.items() if u > 0}
    highest = max(shown.values(), default=0.0)
    return {unit: reward - values[unit] for unit, u in shown.items() if u == highest > SHOWN}


def _checked(interaction: Interaction) -> dict[str, float]:
    """Attribution by unit id, in the order of the ids."""
    if not 0 <= interaction.reward <= 1:
        raise InputError(f"a reward must lie in [0, 1], got {interaction.reward}")
    highest: dict[str, float] = {}
    for exposure in interaction.exposed:
        if not 0 <= exposure.attribution <= 1:
            raise InputError(f"an attribution must lie in [0, 1], got {exposure}")
        before = highest.get(exposure.unit_id, 0.0)
        highest[exposure.unit_id] = max(before, exposure.attribution)
    return dict(sorted(highest.items()))


def _cluster(engine: MemoryEngine, query: str | None, settings: CreditSettings) -> str:
    """The query's kind; a new one is kept in the bank."""
    if not settings.conditional or query is None or engine.embedder is None:
        return ""
    known = QueryClusters.read(engine.bank.state(STATE), engine.embedder)
    vector = query_vector(query, engine.embedder)
    grown = known.grown(vector, settings.cluster_cosine, settings.clusters_most)
    if grown is not known:
        engine.bank.set_state(STATE, grown.to_bytes())
    return grown.assign(vector)


def _snapshot(
    engine: MemoryEngine,
    shown: Mapping[str, float],
    reached: Sequence[Reached],
    scope: Scope | None,
) -> _Snapshot:
    means = engine.bank.utilities(list(shown), scope, _EVERY)
    missing = sorted(shown.keys() - means.keys())
    if missing:
        raise NotFoundError(
            f"no unit {missing[0]!r} is stored for this owner; it cannot be given credit"
        )
    means |= engine.bank.utilities([one.unit_id for one in reached], scope)
    values = {(v.unit_id, v.cluster): v for v in engine.bank.values(list(means))}
    return _Snapshot(means, values)


def _start(
    interaction: Interaction,
    shown: Mapping[str, float],
    before: _Snapshot,
    settings: CreditSettings,
) -> float | None:
    """First value of the new memory: the reward, or the mean of those it was built from, 0.5 if
    there are none. None without a new memory."""
    if interaction.distilled is None:
        return None
    if settings.new_value == "reward":
        return interaction.reward
    if not shown:
        return 0.5
    return sum(before.means[unit] for unit in shown) / len(shown)


def _moved(
    reward: float,
    shown: Mapping[str, float],
    reached: Sequence[Reached],
    before: _Snapshot,
    start: float | None,
    cluster: str,
    settings: CreditSettings,
) -> list[tuple[Value, int]]:
    """The values after the interaction, with the hops to what was shown."""
    moved: list[tuple[Value, int]] = []
    for kind in ("", cluster) if cluster else ("",):
        values = {unit: before.before(unit, kind) for unit in shown}
        deltas = residuals(reward, shown, values, start or 0.0, settings)
        for unit, delta in deltas.items():
            seen = before.exposures(unit, kind) + 1
            moved.append((Value(unit, kind, _step(values[unit], delta, settings), seen), 0))
        for one in reached:
            if kind and (one.unit_id, kind) not in before.learned:
                continue
            old, delta = before.before(one.unit_id, kind), spread(one, deltas)
            after = _step(old, delta, settings)
            if after != old:
                seen = before.exposures(one.unit_id, kind)
                moved.append((Value(one.unit_id, kind, after, seen), one.hops))
    return moved


def _step(value: float, delta: float, settings: CreditSettings) -> float:
    return min(1.0, max(0.0, value + settings.alpha * delta))


def _add(
    engine: MemoryEngine,
    interaction: Interaction,
    parents: Sequence[str],
    start: float | None,
    link: bool,
) -> str | None:
    """Store the distilled memory with its value and edges; its id, None if it was there."""
    assert interaction.distilled is not None
    assert start is not None
    (receipt,) = engine.write([_distilled(interaction.distilled, parents, interaction.reward)])
    if receipt.fate is Fate.REFUSED:
        raise InputError(f"the bank refuses the distilled memory: {receipt.reason}")
    if receipt.fate is not Fate.ADDED:
        return None
    engine.bank.set_values([Value(receipt.id, "", start)])
    if link and engine.bank.state(LINKS) is not None:
        engine.link(interaction.distilled.scope)
    return receipt.id


def _distilled(unit: MemoryUnit, parents: Sequence[str], reward: float) -> MemoryUnit:
    made_of = {DISTILLED: True, PARENTS: list(parents), REWARD: reward}
    return replace(unit, metadata={**unit.metadata, **made_of})
