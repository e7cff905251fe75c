"""Logged feedback as examples for a router: what was asked, and which memories were good for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgene.bank.protocol import Bank
from memgene.bank.unit import UnitStatus
from memgene.core import Scope, stable_id
from memgene.engine.online.log import Logged

MOST_QUERIES = 2_000
"""A router learns from so many queries at most, those with the newest feedback."""
NEUTRAL = 0.5
"""A memory whose mean reward is above this was good for the query."""
HELD_SHARE = 5
"""One query in so many, chosen by the hash of its words, is held back, always the same ones."""


@dataclass(frozen=True, slots=True)
class Example:
    """A query of one owner, and the mean reward of the memories that were good for it.

    A query that is `held` back is never trained on, by no router of any bank.
    """

    query: str
    scope: Scope
    targets: Mapping[str, float]
    held: bool


def examples(bank: Bank, log: Sequence[Logged]) -> list[Example]:
    """Examples of the log in the order of their last feedback.

    Only memories that are active count, and only feedback that concerns one owner's. Equal words
    are one query, whatever their case and spacing.
    """
    asked = [one for one in log if one.query and one.query.strip() and one.used]
    units = {u.id: u for u in bank.get(sorted({i for one in asked for i in one.used}))}
    rewards: dict[tuple[str, str | None], dict[str, list[float]]] = {}
    words: dict[tuple[str, str | None], str] = {}
    for one in asked:
        found = [units[i] for i in one.used if i in units]
        owners = {unit.scope.user_id for unit in found}
        if len(owners) != 1 or one.query is None:
            continue
        key = _plain(one.query), owners.pop()
        known = rewards.pop(key, None) or defaultdict(list)
        for unit in found:
            if unit.status is UnitStatus.ACTIVE:
                known[unit.id].append(one.reward)
        rewards[key] = known  # at the end: the newest
        words[key] = one.query
    made = (
        Example(words[key], Scope(user_id=key[1]), _good(known), _is_held(key[0]))
        for key, known in rewards.items()
    )
    return [example for example in made if example.targets][-MOST_QUERIES:]


def _good(rewards: Mapping[str, Sequence[float]]) -> dict[str, float]:
    means = {unit_id: sum(given) / len(given) for unit_id, given in sorted(rewards.items())}
    return {unit_id: mean for unit_id, mean in means.items() if mean > NEUTRAL}


def _plain(query: str) -> str:
    return " ".join(query.casefold().split())


def _is_held(query: str) -> bool:
    return int(stable_id(query), 16) % HELD_SHARE == 0
