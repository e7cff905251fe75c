"""How numbers are written."""

from __future__ import annotations

import pytest

from memgene.reports import numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (numbers.points(0.8234), "82.3"),
        (numbers.points(None), "–"),
        (numbers.signed(0.073), "+7.3"),
        (numbers.signed(-0.073), "−7.3"),
        (numbers.signed(-0.0001), "0.0"),
        (numbers.interval(-0.01, 0.1), "[−1.0, 10.0]"),
        (numbers.probability(0.0002), "< 0.001"),
        (numbers.probability(0.0421), "0.042"),
        (numbers.duration(7.43), "7.4 s"),
        (numbers.duration(185), "3 min 05 s"),
        (numbers.duration(7800), "2 h 10 min"),
        (numbers.value(True), "on"),
        (numbers.value(0.30000001), "0.3"),
        (numbers.value(None), "–"),
    ],
)
def test_numbers_are_short_and_plain(written: str, expected: str) -> None:
    assert written == expected
