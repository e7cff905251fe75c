"""What a unit is like, whatever is asked."""

from __future__ import annotations

import pytest

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.traits import TRAITS, traits


def found(text: str, **more: object) -> dict[str, float]:
    values = dict(zip(TRAITS, traits(MemoryUnit(text, **more)), strict=True))  # type: ignore[arg-type]
    return {name: value for name, value in values.items() if value}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("Is it?", {"question": 1}),
        ("I told my mother about us", {"first_person": 3}),
        ("Is this yours, or do you rent?", {"question": 1, "second_person": 2}),
        ("Yesterday or last spring", {"time_words": 3}),
        ("ten oars and 12 ropes", {"numbers": 2}),
        ("so they met Mira in Graz", {"proper_names": 2}),
        ("Nothing here", {}),
        ("she read “The Mill” aloud", {"quotes": 1, "proper_names": 1}),
        ("stop! now!", {"exclamations": 2}),
        ("she painted and went home", {"past_tense": 2}),
        ("thank you", {"thanks": 1, "second_person": 1}),
    ],
)
def test_counts(text: str, expected: dict[str, float]) -> None:
    assert found(text) == expected


def test_a_caption_is_a_trait() -> None:
    assert found("see here", metadata={"caption": "a boat"}) == {"caption": 1}
