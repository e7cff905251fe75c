"""Where evaluations run: one after another, or in threads for calls that wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol, TypeVar

from memgene.core import InputError
from memgene.evaluation.progress import Progress

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Applies a function to every item. The first exception ends the work and is raised."""

    @property
    def workers(self) -> int:
        """How many items are in work at once (≥ 1)."""
        ...

    def map(
        self,
        fn: Callable[[T], R],
        items: Sequence[T],
        progress: Progress | None = None,
        label: str = "",
    ) -> list[R]:
        """Results in the order of the items, whatever the order they were finished in."""
        ...


@dataclass(frozen=True, slots=True)
class SerialExecutor:
    """One item after another, in the caller's thread."""

    workers: int = 1

    def __post_init__(self) -> None:
        if self.workers != 1:
            raise InputError(f"a serial executor has one worker, not {self.workers}")

    def map(
        self,
        fn: Callable[[T], R],
        items: Sequence[T],
        progress: Progress | None = None,
        label: str = "",
    ) -> list[R]:
        results: list[R] = []
        for done, item in enumerate(items, start=1):
            results.append(fn(item))
            if progress:
                progress(done, len(items), label)
        return results


@dataclass(frozen=True, slots=True)
class ThreadExecutor:
    """`workers` threads, for work that waits (LLM calls). `fn` must be thread-safe.

    An exception, Ctrl-C included, cancels what has not begun, waits for what has, and is raised.
    """

    workers: int = 4

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"workers must be at least 1, got {self.workers}")

    def map(
        self,
        fn: Callable[[T], R],
        items: Sequence[T],
        progress: Progress | None = None,
        label: str = "",
    ) -> list[R]:
        pool = ThreadPoolExecutor(max_workers=self.workers, thread_name_prefix="memgene")
        try:
            # Each item sees the caller's context (open meters), in a copy of its own.
            futures: list[Future[R]] = [pool.submit(copy_context().run, fn, item) for item in items]
            for done, finished in enumerate(as_completed(futures), start=1):
                finished.result()
                if progress:
                    progress(done, len(items), label)
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def threads(workers: int) -> Executor:
    """`workers` threads, or none beside the caller's for one."""
    return ThreadExecutor(workers) if workers > 1 else SerialExecutor()
