"""What tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

from memgene.core import InputError

_UNIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens read (`tokens_in`) and written (`tokens_out`).

    `known` is False where nobody said what a call costs; a budget in money refuses such calls.
    """

    tokens_in: float = 0.0
    tokens_out: float = 0.0
    known: bool = True

    def __post_init__(self) -> None:
        if self.tokens_in < 0 or self.tokens_out < 0:
            raise InputError(f"prices cannot be negative: {self.tokens_in}, {self.tokens_out}")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Money for so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _UNIT


FREE = Prices()
