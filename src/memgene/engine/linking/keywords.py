"""The words by which sparse edges know a unit."""

from __future__ import annotations

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.text import content_words, stem


def keywords(unit: MemoryUnit) -> list[str]:
    """Distinct stems of what was said and of its labels, stop words left out, in reading order.

    Who said it is no keyword: speakers share their names with everything they say.
    """
    labels = (*unit.keywords, *unit.entities, *unit.topics, *unit.locations)
    return list(
        dict.fromkeys(stem(w) for text in (unit.content, *labels) for w in content_words(text))
    )
