"""Whether two consecutive memories belong together, by a language model (CoEvo-Mem §2)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from memgene.bank.unit import MemoryUnit
from memgene.core import ModelError
from memgene.engine.linking.nearest import Told
from memgene.llm.prompts.time_links import TIME_LINKS
from memgene.llm.protocol import LLM
from memgene.llm.structured import ask

SHOWN_CHARACTERS = 600


class TimeCheck(Protocol):
    """Says of two units of one source, the later right after the earlier, whether the later goes
    on with what the earlier began. Asked from at most `concurrency` threads at once."""

    @property
    def concurrency(self) -> int:
        """How many may be asked at once (≥ 1)."""
        ...

    def __call__(self, earlier: MemoryUnit, later: MemoryUnit) -> bool:
        """Raises ModelError when there is no verdict."""
        ...


class Together(BaseModel):
    """The reply to TIME_LINKS."""

    together: bool


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One structured call a pair, with a fixed prompt; each text is cut to 600 characters."""

    llm: LLM

    @property
    def concurrency(self) -> int:
        """The model's."""
        return self.llm.concurrency

    def __call__(self, earlier: MemoryUnit, later: MemoryUnit) -> bool:
        """Ask. Raises ModelError without a usable reply; BudgetExhaustedError and ConfigError."""
        messages = TIME_LINKS.render(earlier=_line(earlier), later=_line(later))
        return ask(self.llm, messages, Together).value.together


def model_check(llm: LLM) -> TimeCheck:
    """The check a language model makes."""
    return ModelCheck(llm)


@dataclass(frozen=True, slots=True)
class Checked:
    """Verdicts in the order of the pairs, and what to tell of those that had to be assumed."""

    verdicts: tuple[bool, ...]
    degraded: tuple[str, ...] = ()


def checked(
    check: TimeCheck, pairs: Sequence[tuple[MemoryUnit, MemoryUnit]], told: Told
) -> Checked:
    """Ask about each pair. One without a verdict counts as together, as it does without a model.

    Raises BudgetExhaustedError and ConfigError of the calls.
    """

    def verdict(pair: tuple[MemoryUnit, MemoryUnit]) -> bool | ModelError:
        try:
            return check(*pair)
        except ModelError as failed:
            return failed

    verdicts, failures = list[bool](), list[ModelError]()
    pool = ThreadPoolExecutor(max(1, min(check.concurrency, len(pairs))))
    try:
        # each in a context of its own: calls count where the link was asked for
        asked = [pool.submit(copy_context().run, verdict, pair) for pair in pairs]
        for found in (future.result() for future in asked):
            if isinstance(found, ModelError):
                failures.append(found)
            verdicts.append(isinstance(found, ModelError) or found)
            told(1)
    finally:
        pool.shutdown(cancel_futures=True)
    if not failures:
        return Checked(tuple(verdicts))
    what = f"{len(failures)} of {len(pairs)} pairs had no verdict and are linked"
    return Checked(tuple(verdicts), (f"time links: {what}: {failures[0]}",))


def _line(unit: MemoryUnit) -> str:
    line = " ".join(unit.rendered.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
