"""How much a run may spend. Every limit is optional; the first that is reached ends the run."""

from __future__ import annotations

from dataclasses import dataclass, fields

from memgene.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits: evaluated questions, iterations (rounds), LLM calls, tokens, money, seconds."""

    questions: int | None = None
    iterations: int | None = None
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and value <= 0:
                raise InputError(f"budget {f.name} must be above 0, got {value}")

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read `questions=2000,iterations=8,seconds=60`, as the command line takes it."""
        names = {f.name for f in fields(cls)}
        limits: dict[str, float] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, value = part.partition("=")
            if name not in names:
                raise InputError(f"budget has no limit {name!r}; it has {', '.join(sorted(names))}")
            try:
                limits[name] = float(value)
            except ValueError:
                raise InputError(f"budget {name} needs a number, got {value!r}") from None
        whole = {"questions", "iterations", "calls", "tokens"}
        for name in whole & limits.keys():
            if limits[name] != int(limits[name]):
                raise InputError(f"budget {name} must be a whole number, got {limits[name]}")
        return cls(**{n: int(v) if n in whole else v for n, v in limits.items()})  # type: ignore[arg-type]
