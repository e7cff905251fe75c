"""Which of the memories that were shown had a part in an answer: u in [0, 1] for each.

By a language model (CoEvo-Mem §4), by the answer's words, or, for learners on dev, by where the
gold evidence is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, create_model
from pydantic.config import JsonDict

from memgene.core import Hit, ModelError
from memgene.engine.credit.interaction import Exposure
from memgene.engine.lines import numbered, one_line
from memgene.llm.prompts.attribution import ATTRIBUTION
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask
from memgene.retrieval.text import content_words, stem

CITED = 1.0
"""u of a memory that the answer cites, or that holds gold evidence (ours)."""
SHOWN = 0.25
"""u of a memory that was shown and of which nothing else is known (ours)."""
MOST_NOTES = 50
"""Memories that a model is asked about at once; those after them get SHOWN."""
SHOWN_ANSWER = 2000
_MISSING = 0.5  # share of a part's words, below which a memory may lack to be cited
_PART = re.compile(r"[,;\n]|(?<=[.!?。！？])\s|\s(?:and|&)\s")


class Share(BaseModel):
    """One line of the reply: the number of a note, and its share."""

    note: int
    share: float = Field(ge=0, le=1)


class Shares(BaseModel):
    """The reply to ATTRIBUTION."""

    shares: list[Share]


def attribute(
    llm: LLM, question: str, answer: str, hits: Sequence[Hit]
) -> tuple[tuple[Exposure, ...], tuple[str, ...]]:
    """The part each shown memory had in the answer, as a model says that sees question, answer and
    memories (400 characters of each): one structured call. It sees neither gold nor reward.

    Notes the model leaves out, and those after the first 50, get SHOWN; numbers that are no note's
    are ignored, of several shares for one note the first counts. The second value says why the
    attributions are those of `attribute_cited` when the model gave no usable reply. Nothing shown:
    no call.

    Raises BudgetExhaustedError and ConfigError of the call.
    """
    if not hits:
        return (), ()
    block = hits[:MOST_NOTES]
    messages = ATTRIBUTION.render(
        notes=numbered(block),
        question=one_line(question, SHOWN_ANSWER),
        answer=one_line(answer, SHOWN_ANSWER) or "(none)",
    )
    try:
        said = ask(llm, messages, _shares_of(len(block)), max_tokens=_tokens(len(block))).value
    except ModelError as failed:
        return attribute_cited(answer, hits, question=question), (f"attribution: {failed}",)
    share = {s.note: s.share for s in reversed(said.shares)}
    return _exposures(hits, [share.get(n, SHOWN) for n in range(1, len(hits) + 1)]), ()


def attribute_cited(
    answer: str, hits: Sequence[Hit], *, question: str = "", cited: Collection[str] = ()
) -> tuple[Exposure, ...]:
    """CITED for the memories that hold the answer's words, SHOWN for the others; no model.

    The answer is taken apart at commas, ends of sentences and *and*; a memory is cited that holds
    more than half of the content words (stems) of a part. Words of the question do not count,
    where the answer has others. `cited` are ids that the answer names itself; where one of them
    was shown, they decide alone.
    """
    named = [hit.id in cited for hit in hits]
    if not any(named):
        parts = _parts(answer, _stems(question))
        named = [bool(parts) and _holds(_stems(hit.rendered or hit.text), parts) for hit in hits]
    return _exposures(hits, [CITED if is_cited else SHOWN for is_cited in named])


def attribute_evidence(hits: Sequence[Hit], gold: Collection[str]) -> tuple[Exposure, ...]:
    """CITED for the memories that are gold evidence (by message ids, source or own id), SHOWN for
    the others. For learners on dev only: nobody else has the gold."""
    wanted = frozenset(gold)
    held = [not wanted.isdisjoint((hit.id, hit.source, *hit.refs)) for hit in hits]
    return _exposures(hits, [CITED if is_held else SHOWN for is_held in held])


def _exposures(hits: Sequence[Hit], shares: Sequence[float]) -> tuple[Exposure, ...]:
    """One exposure a memory; one that was shown twice has the larger share."""
    best: dict[str, float] = {}
    for hit, share in zip(hits, shares, strict=True):
        best[hit.id] = max(share, best.get(hit.id, 0.0))
    return tuple(Exposure(unit_id, share) for unit_id, share in best.items())


def _parts(answer: str, asked: frozenset[str]) -> list[frozenset[str]]:
    """Stems of each part of an answer, without what the question says already."""
    whole = [stems for part in _PART.split(answer) if (stems := _stems(part))]
    own = [new for stems in whole if (new := stems - asked)]
    return own or whole


def _holds(stems: frozenset[str], parts: Sequence[frozenset[str]]) -> bool:
    return any(len(part - stems) < _MISSING * len(part) for part in parts)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


def _tokens(notes: int) -> int:
    return 128 + 32 * notes


def _shares_of(count: int) -> type[Shares]:
    """The reply about so many notes. One that names none of them is refused, with the reason."""

    def usable(shares: list[Share]) -> list[Share]:
        known = [s for s in shares if 1 <= s.note <= count]
        if not known:
            raise ValueError(f"names no note from 1 to {count}")
        return known

    bounds: JsonDict = {"maxItems": count}
    checked = Annotated[list[Share], AfterValidator(usable)]
    return create_model(
        "Shares", __base__=Shares, shares=(checked, Field(json_schema_extra=bounds))
    )
