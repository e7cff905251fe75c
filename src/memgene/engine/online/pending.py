"""Feedback that was only logged is credited later, as if it had been at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memgene.bank.protocol import Bank
from memgene.core import Scope
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.engine import MemoryEngine
from memgene.engine.online.log import EVERY, read_log
from memgene.engine.online.step import Progress, Step

STATE = "feedback"
"""Name of the bank state that says which logged feedback was credited."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Which logged feedback was credited: lessons up to `through`, but not those `left` out (their
    owner's turn has not come). `given` is when that lesson was."""

    through: int = 0
    left: tuple[int, ...] = ()
    given: str = ""

    @classmethod
    def read(cls, bank: Bank) -> Spent:
        """As the bank's state says. One that came with an import speaks of another bank's lessons
        and counts for nothing."""
        content = bank.state(STATE)
        if content is None:
            return cls()
        said = json.loads(content)
        spent = cls(int(said["through"]), tuple(said["left"]), said["given"])
        return spent if _given(bank, spent.through) == spent.given else cls()

    def write(self, bank: Bank) -> None:
        """Keep it in the bank's state."""
        said = {"through": self.through, "left": list(self.left), "given": self.given}
        bank.set_state(STATE, json.dumps(said).encode())

    def holds(self, lesson: int) -> bool:
        """Whether this lesson's feedback was credited."""
        return lesson <= self.through and lesson not in self.left


def _given(bank: Bank, number: int) -> str:
    """When a standing lesson was given; empty when there is none of this number."""
    found = [one for one in bank.lessons(EVERY) if one.number == number]
    return found[0].time.isoformat() if found else ""


def apply_pending(
    engine: MemoryEngine,
    scope: Scope | None,
    settings: CreditSettings,
    progress: Progress | None = None,
) -> Step:
    """Credit the logged feedback whose memories the scope admits, in the order it was given.

    Where every memory that counted as used was erased meanwhile, there is nothing to learn.
    """
    spent = Spent.read(engine.bank)
    log = read_log(engine.bank)
    pending = [one for one in log if not one.applied and not spent.holds(one.lesson)]
    left: list[int] = []
    changed = credited = 0
    for done, one in enumerate(pending, 1):
        ids = [exposure.unit_id for exposure in one.exposed]
        if scope is not None and len(engine.bank.get(ids, scope)) < len(ids):
            left.append(one.lesson)
        elif one.used:
            interaction = Interaction(one.query, one.exposed, one.reward)
            changed += len({c.unit_id for c in give_credit(engine, interaction, settings).changes})
            credited += 1
        if progress is not None:
            progress(done, len(pending), "feedback")
    if len(left) < len(pending):
        newest = max(spent.through, pending[-1].lesson)
        Spent(newest, tuple(left), _given(engine.bank, newest)).write(engine.bank)
    return Step("feedback", credited, _told(credited, left), {"values": changed, "left": len(left)})


def _told(credited: int, left: Sequence[int]) -> str:
    rewards = "reward" if credited == 1 else "rewards"
    said = f"{credited} logged {rewards} credited" if credited else "no logged reward was waiting"
    return f"{said}; {len(left)} wait for their owner's turn" if left else said
