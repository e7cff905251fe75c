"""What was seen of a program at work beside its cases: failures, writes, what it logged."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from memgene.harness.program_log import UNUSABLE, ProgramLog

_LINES = 15
_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Broken:
    """A failure of the program, and how often the same happened."""

    where: str
    kind: str
    message: str
    detail: str
    times: int


@dataclass(frozen=True, slots=True)
class Wrote:
    """How the text of an episode (its beginning) became an item (JSON)."""

    raw_text: str
    item: str


@dataclass(frozen=True, slots=True)
class Observed:
    """All of it, in plain values, so that a resumed run knows what the first one saw."""

    broken: tuple[Broken, ...] = ()
    writes: tuple[Wrote, ...] = ()
    logs: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: ProgramLog) -> Observed:
        """From the log of a harness factory; equal failures are told once, the most frequent
        first."""
        counts: dict[tuple[str, str, str], Broken] = {}
        for seen in log.violations:
            key = (seen.where, str(seen.kind), seen.message)
            known = counts.get(key)
            detail = seen.detail if known is None else known.detail
            counts[key] = Broken(*key, detail, 1 if known is None else known.times + 1)
        writes = tuple(
            Wrote(w.raw_text[:_TEXT], json.dumps(dict(w.item), ensure_ascii=False)[:_TEXT])
            for w in log.writes
        )
        broken = sorted(counts.values(), key=lambda b: (-b.times, b.where, b.kind, b.message))
        return cls(tuple(broken), writes, tuple(log.debug[-_LINES:]))

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Observed:
        """Inverse of `to_json`."""
        values: dict[str, Any] = json.loads(text)
        return cls(
            tuple(Broken(**each) for each in values["broken"]),
            tuple(Wrote(**each) for each in values["writes"]),
            tuple(values["logs"]),
        )

    @property
    def faults(self) -> tuple[Broken, ...]:
        """Failures of the program itself, without those of an agent that could do nothing with its
        words."""
        return tuple(each for each in self.broken if each.kind != UNUSABLE)
