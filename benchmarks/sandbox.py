"""How long the sandbox takes: a worker ready, a call, a call with a host call, a kill.

    python benchmarks/sandbox.py

The guest imports numpy, as memory programs do. "Cold" is what a worker would cost without a
zygote: a fresh Python process that imports the same and is locked down. Workers are started one at
a time; on a machine that is busy otherwise, a new process waits for its turn and the first row
says how long. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import finish, note, table

from memgene.sandbox import FailureKind, GuestError, Level, Sandbox, Worker

GUEST = """
def prepare():
    import numpy


def begin(first, host):
    def spin(params):
        while True:
            pass

    def ask(params):
        return host.call("ask", params)

    return None, {"echo": lambda params: params, "ask": ask, "spin": spin}
"""
KILOBYTE = {"text": "x" * 1000}
DEADLINE = 0.2


@dataclass(frozen=True, slots=True)
class Measure:
    """Median and 90th percentile, in the unit of the bar (the most the median may be)."""

    name: str
    unit: str
    p50: float
    p90: float
    n: int
    bar: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the median keeps to its bar."""
        return self.bar is None or self.p50 <= self.bar


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "timed_guest.py").write_text(GUEST, encoding="utf-8")
        with _sandbox(folder) as sandbox:
            level = sandbox.level
            note(f"isolation: {level.label}")
            measures = [
                _measure("worker ready", "ms", _starts(sandbox, options.workers), 5.0),
                *_calls(sandbox, options.calls),
                _measure("kill after deadline", "ms", _kills(sandbox, options.kills), 50.0),
            ]
        measures.append(_measure("cold worker", "ms", _cold(folder, options.cold)))
    _report(measures, level)
    sys.exit(not all(measure.passed for measure in measures))


def _starts(sandbox: Sandbox, count: int) -> list[float]:
    """Seconds from asking for a worker until its guest is loaded."""
    found = []
    for _ in range(count):
        started = time.perf_counter()
        worker = sandbox.start({}, {})
        found.append(time.perf_counter() - started)
        worker.close()
    return found


def _calls(sandbox: Sandbox, count: int) -> list[Measure]:
    with sandbox.start({}, {"ask": lambda params: params}) as worker:
        plain = _times(lambda: worker.call("echo", KILOBYTE), count)
        hosted = _times(lambda: worker.call("ask", KILOBYTE), count)
    return [
        _measure("call, 1 kB both ways", "µs", plain, 60.0),
        _measure("call with one host call", "µs", hosted),
    ]


def _kills(sandbox: Sandbox, count: int) -> list[float]:
    """Seconds past the deadline when a guest that never returns has been killed and reaped."""
    return [_overrun(sandbox.start({}, {})) for _ in range(count)]


def _overrun(worker: Worker) -> float:
    started = time.perf_counter()
    try:
        worker.call("spin", {}, seconds=DEADLINE)
    except GuestError as failure:
        if failure.kind is not FailureKind.TIME:
            raise
    return time.perf_counter() - started - DEADLINE


def _cold(folder: str, count: int) -> list[float]:
    """Seconds until the first worker of a new sandbox is ready."""
    found = []
    for _ in range(count):
        started = time.perf_counter()
        with _sandbox(folder) as sandbox, sandbox.start({}, {}):
            found.append(time.perf_counter() - started)
    return found


def _sandbox(folder: str) -> Sandbox:
    return Sandbox("timed_guest", paths=[folder], require=Level.RLIMITS)


def _times(action: Callable[[], Any], count: int) -> list[float]:
    found = []
    for _ in range(count):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return found


def _measure(name: str, unit: str, seconds: Sequence[float], bar: float | None = None) -> Measure:
    scale = {"ms": 1e3, "µs": 1e6}[unit]
    p50, p90 = scale * np.quantile(np.asarray(seconds), [0.5, 0.9])
    return Measure(name, unit, float(p50), float(p90), len(seconds), bar)


def _report(measures: Sequence[Measure], level: Level) -> None:
    rows = [
        (
            measure.name,
            f"{measure.p50:.2f} {measure.unit}",
            f"{measure.p90:.2f} {measure.unit}",
            str(measure.n),
            f"≤ {measure.bar:g} {measure.unit}" if measure.bar else "",
            "" if measure.bar is None else "met" if measure.passed else "missed",
        )
        for measure in measures
    ]
    table(f"sandbox ({level.label})", ("what", "p50", "p90", "n", "bar", ""), rows)
    result = {
        measure.name: {
            f"p50_{measure.unit.replace('µ', 'u')}": round(measure.p50, 3),
            f"p90_{measure.unit.replace('µ', 'u')}": round(measure.p90, 3),
            "n": measure.n,
            "bar": measure.bar,
            "passed": measure.passed,
        }
        for measure in measures
    }
    finish("sandbox", {"level": level.label, **result})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--workers", type=int, default=200, help="workers started")
    parser.add_argument("--calls", type=int, default=5000, help="calls of each kind")
    parser.add_argument("--kills", type=int, default=20, help="guests killed")
    parser.add_argument("--cold", type=int, default=10, help="sandboxes started")
    return parser.parse_args()


if __name__ == "__main__":
    main()
