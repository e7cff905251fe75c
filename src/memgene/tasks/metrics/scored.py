"""What a metric looks at: one question with its gold, the answer, the ranking, the context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memgene.core import Gold, LabelledQuestion, Question
from memgene.tasks.task import Task


class RankedUnit(Protocol):
    """One place of a ranking; `memgene.core.Hit` is one."""

    @property
    def id(self) -> str: ...

    @property
    def refs(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """One question, ready to be scored.

    `ranking` is the order of hits before the context cut, None for a memory that does not rank.
    `evidence_texts` holds, for each of `gold.evidence`, the message texts that make it up.
    `judged` holds the scores that judges gave, by the name of their metric.
    """

    question: Question
    gold: Gold
    answer: str = ""
    abstained: bool = False
    ranking: Sequence[RankedUnit] | None = None
    context: str = ""
    evidence_texts: tuple[tuple[str, ...], ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)

    @property
    def predicted(self) -> str:
        """The answer's words; an abstention has none."""
        return "" if self.abstained else self.answer

    @property
    def evidence(self) -> tuple[str, ...]:
        """Unique gold units in order; empty when the evidence is unusable."""
        return () if self.gold.unusable else tuple(dict.fromkeys(self.gold.evidence))


def evidence_index(task: Task) -> Mapping[str, tuple[str, ...]]:
    """Texts behind every id that evidence may name: a message's own, or all of an episode's."""
    texts: dict[str, tuple[str, ...]] = {}
    for episode in task.episodes:
        texts[episode.id] = tuple(message.content for message in episode.messages)
        for message in episode.messages:
            if message.id is not None:
                texts[message.id] = (message.content,)
    return texts


def evidence_texts(
    question: LabelledQuestion, index: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """The texts of a question's evidence, one tuple per unique gold unit; empty when not held."""
    return tuple(index.get(ref, ()) for ref in dict.fromkeys(question.gold.evidence))
