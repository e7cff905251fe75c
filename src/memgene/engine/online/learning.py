"""The idle-time lesson of a memory in use: everything that is too slow to learn in passing."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import Scope
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.engine import MemoryEngine
from memgene.engine.growth import GrowthSettings, control_growth
from memgene.engine.online.log import LEARN
from memgene.engine.online.pending import apply_pending
from memgene.engine.online.routing import RouterVerdict, train_router
from memgene.engine.online.step import Progress, Step
from memgene.engine.served_router import STATE


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a lesson did, step by step, and its number (None when nothing changed)."""

    steps: tuple[Step, ...]
    lesson: int | None


def learn(
    engine: MemoryEngine,
    scope: Scope | None = None,
    *,
    most: int | None = None,
    credit: CreditSettings | None = None,
    progress: Progress | None = None,
) -> Learnt:
    """Credit logged feedback, train a router, keep growth in bounds, link what is then active.

    The router is trained first, while the bank is free; all writing is one lesson. Learning again
    from the same log changes nothing. `scope`: whose memories (None: all owners', each for
    themselves); `most`: so many memories of the scope stay unarchived.

    Raises InputError for a limit below 0.
    """
    limits = GrowthSettings(most=most)
    verdict = train_router(engine, scope, progress)
    bank = engine.bank
    with bank.atomic():
        before = bank.lessons(1)
        with bank.lesson(LEARN):
            steps = (
                apply_pending(engine, scope, credit or CreditSettings(), progress),
                _route(engine, verdict),
                _grow(engine, scope, limits),
                _link(engine, scope, progress),
            )
        newest = bank.lessons(1)
    return Learnt(steps, None if newest == before else newest[0].number)


def _route(engine: MemoryEngine, verdict: RouterVerdict) -> Step:
    if verdict.step.changed:
        kept = verdict.kept
        engine.bank.set_state(STATE, None if kept is None else kept.to_bytes())
    return verdict.step


def _link(engine: MemoryEngine, scope: Scope | None, progress: Progress | None) -> Step:
    """Edges of what is new or changed; pairs in time are taken to belong together."""

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(done, total, "links")

    done = engine.link(scope, progress=tell)
    added, removed = sum(done.added.values()), sum(done.removed.values())
    figures: dict[str, float] = {"units": done.units, "added": added, "removed": removed}
    figures |= {f"added.{kind}": count for kind, count in done.added.items()}
    said = f"{done.units} memories looked at, {added} edges written, {removed} removed"
    return Step("links", done.changed, said, figures)


def _grow(engine: MemoryEngine, scope: Scope | None, limits: GrowthSettings) -> Step:
    done = control_growth(engine, limits, scope)
    merged, archived = len(done.merged), len(done.archived)
    figures = {"units": done.units, "merged": merged, "archived": archived}
    limit = "no limit given (most=)" if limits.most is None else f"limit {limits.most}"
    said = f"{done.units} memories, {limit}; {merged} merged, {archived} archived"
    return Step("growth", merged + archived, said, figures)
