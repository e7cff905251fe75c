"""Recent: the last turns, whatever is asked. What a sliding window over the dialogue gives."""

from __future__ import annotations

from memgene.bank.unit import MemoryUnit
from memgene.core import Context, Episode, Filled, InputError
from memgene.harness.baselines.turns import hit_of, turns_of
from memgene.harness.plain import PlainHarness

LAST = 20


class Recent(PlainHarness):
    """The last `last` turns by event time; by order of writing where any turn has no time.

    The ranking has the newest first (so recall@k asks whether the k newest hold the evidence);
    the context has the same turns in time order, as they would be read.
    """

    name = "recent"
    yields_hits = True

    def __init__(self, last: int = LAST) -> None:
        if last < 1:
            raise InputError(f"recent needs at least 1 turn, got {last}")
        self._last = last
        self._units: list[MemoryUnit] = []
        self._context: Context | None = None

    def write(self, item: Filled, episode: Episode) -> None:
        """Append the episode's turns."""
        self._units.extend(turns_of(episode))
        self._context = None

    def read(self, query: Filled) -> Context:
        """The same turns for every query. Score: 1 / rank."""
        if self._context is None:
            self._context = self._build()
        return self._context

    def close(self) -> None:
        """Forget everything."""
        self._units.clear()
        self._context = None

    def _build(self) -> Context:
        shown = _in_time_order(self._units)[-self._last :]
        hits = tuple(hit_of(unit, 1 / rank) for rank, unit in enumerate(reversed(shown), start=1))
        return Context(
            text="\n".join(unit.rendered for unit in shown),
            hits=hits,
            shown=len(hits),
            pool=tuple(ref for hit in hits for ref in hit.refs),
        )


def _in_time_order(units: list[MemoryUnit]) -> list[MemoryUnit]:
    """Sorted by the written-down time (naive and aware as given), ties as written."""
    times = [unit.event_time.replace(tzinfo=None) for unit in units if unit.event_time]
    if len(times) < len(units):
        return units
    order = sorted(range(len(units)), key=lambda i: times[i])
    return [units[i] for i in order]
