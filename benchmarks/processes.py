"""Several processes add the same texts to one file at once and find each other's.

    python benchmarks/processes.py --processes 8 --seconds 30

Every process adds the common texts in an order of its own, again and again, until the time is over
and it has added each of them. After every few it adds a text of its own and tells the next process,
which must find it by its next search. At the end each text must be there once, `verify` must find
nothing, and no call may have failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.context import SpawnProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Empty
from typing import Any

from common import Latency, finish, note, table
from dialogue import made

import memgene
from memgene.core import MemgeneError

USER = "bench"
_PATIENCE = 120.0

Told = tuple[str, str] | None
"""A text another process added and its id; None when that process has ended."""


@dataclass(slots=True)
class Outcome:
    """What one process did. `found` of `told` texts of others stood in the next search."""

    added: list[float] = field(default_factory=list)
    merged: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    seconds: float = 0.0
    fresh: int = 0
    told: int = 0
    found: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process is asked to do."""

    path: str
    number: int
    texts: tuple[str, ...]
    seconds: float
    own_every: int


def main() -> None:
    options = _options()
    texts = tuple(dict.fromkeys(unit.content for unit in made(2 * options.texts, 1).units))
    texts = texts[: options.texts]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "shared.db")
        outcomes = _run(path, texts, options)
        seconds = max(outcome.seconds for outcome in outcomes)
        note("checking the file")
        wrong, units, problems = _check(path, texts, outcomes)
    errors = [error for outcome in outcomes for error in outcome.errors]
    added = [s for outcome in outcomes for s in outcome.added]
    merged = [s for outcome in outcomes for s in outcome.merged]
    searches = [s for outcome in outcomes for s in outcome.searches]
    told, found = sum(o.told for o in outcomes), sum(o.found for o in outcomes)
    waits = {
        "add, all": added + merged,
        "add, stored": added,
        "add, was there": merged,
        "search for another's": searches,
    }
    kept = {name: Latency.of(seconds) for name, seconds in waits.items() if seconds}
    table(
        f"{options.processes} processes, {seconds:.1f} s, milliseconds",
        ("call", "calls", "p50", "p95", "p99", "max"),
        [
            (n, f"{x.n}", f"{x.p50:.2f}", f"{x.p95:.1f}", f"{x.p99:.1f}", f"{x.most:.1f}")
            for n, x in kept.items()
        ],
    )
    checks = {
        "common_texts": len(texts),
        "units": units,
        "texts_not_there_once": wrong,
        "verify_problems": problems,
        "others_units": told,
        "others_units_found": found,
        "errors": len(errors),
    }
    table("checks", ("what", "count"), [(n.replace("_", " "), str(v)) for n, v in checks.items()])
    for error in errors[:5]:
        note(error)
    passed = not wrong and not problems and not errors and told == found > 0
    finish(
        "processes",
        {
            "processes": options.processes,
            "seconds": round(seconds, 1),
            "passed": passed,
            **checks,
            "waits": {name: latency.to_json() for name, latency in kept.items()},
        },
    )
    raise SystemExit(0 if passed else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--own-every", type=int, default=20, help="adds before a text of its own")
    return parser.parse_args()


def _run(path: str, texts: tuple[str, ...], options: argparse.Namespace) -> list[Outcome]:
    context = multiprocessing.get_context("spawn")
    boxes: list[Queue[Told]] = [context.Queue() for _ in range(options.processes)]
    results: Queue[Outcome] = context.Queue()
    together = context.Barrier(options.processes)
    workers = []
    for number in range(options.processes):
        plan = Plan(path, number, texts, options.seconds, options.own_every)
        next_box = boxes[(number + 1) % options.processes]
        arguments = (plan, together, boxes[number], next_box, results)
        workers.append(context.Process(target=_work, args=arguments))
    note(f"{options.processes} processes at work")
    for worker in workers:
        worker.start()
    try:
        return _collected(results, workers)
    finally:
        for worker in workers:
            worker.join(5)
            if worker.is_alive():
                worker.kill()


def _collected(results: Queue[Outcome], workers: list[SpawnProcess]) -> list[Outcome]:
    """One outcome of each process; ends at once when one has failed."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(workers):
        try:
            outcomes.append(results.get(timeout=1))
        except Empty:
            if any(worker.exitcode for worker in workers):
                raise SystemExit("a process failed; see above") from None
    return outcomes


def _work(
    plan: Plan, together: Barrier, inbox: Queue[Told], outbox: Queue[Told], results: Queue[Outcome]
) -> None:
    """One process, from opening the file to its outcome."""
    outcome = Outcome()
    with memgene.Memory(plan.path, embedder="static") as memory:
        outcome.fresh += memory.add(plan.texts[0], user_id=USER)[0].event == "added"
        memory.search("warm up", user_id=USER)
        together.wait(_PATIENCE)
        order = list(plan.texts)
        random.Random(plan.number).shuffle(order)
        started, turn, heard_all = time.perf_counter(), 0, False
        end = started + plan.seconds
        while time.perf_counter() < end or turn < len(order):
            _add(memory, order[turn % len(order)], outcome)
            turn += 1
            if turn % plan.own_every == 0:
                text = f"Process {plan.number} keeps token p{plan.number}x{len(outcome.own)}"
                id = _add(memory, text, outcome)
                if id is not None:
                    outcome.own.append(text)
                    outbox.put((text, id))
            heard_all = heard_all or _listen(memory, inbox, outcome)
        outcome.seconds = time.perf_counter() - started
        outbox.put(None)
        while not heard_all:
            heard_all = _listen(memory, inbox, outcome, _PATIENCE)
    results.put(outcome)


def _add(memory: memgene.Memory, text: str, outcome: Outcome) -> str | None:
    """Add a text and keep how long it took; None after an error."""
    started = time.perf_counter()
    try:
        (receipt,) = memory.add(text, user_id=USER)
    except MemgeneError as error:
        outcome.errors.append(f"add: {error}")
        return None
    seconds = time.perf_counter() - started
    new = receipt.event == "added"
    (outcome.added if new else outcome.merged).append(seconds)
    outcome.fresh += new
    return receipt.id


def _listen(
    memory: memgene.Memory, inbox: Queue[Told], outcome: Outcome, patience: float = 0.0
) -> bool:
    """Look for everything the other process told of; True when it has ended."""
    while True:
        try:
            told = inbox.get(timeout=patience) if patience else inbox.get_nowait()
        except Empty:
            return False
        if told is None:
            return True
        text, id = told
        outcome.told += 1
        started = time.perf_counter()
        try:
            found = memory.search(text.split()[-1], user_id=USER, limit=5)
        except MemgeneError as error:
            outcome.errors.append(f"search: {error}")
            continue
        outcome.searches.append(time.perf_counter() - started)
        outcome.found += any(hit.id == id for hit in found)


def _check(path: str, texts: tuple[str, ...], outcomes: list[Outcome]) -> tuple[int, int, int]:
    """Texts that are not there once, units, and what `verify` finds."""
    own = [text for outcome in outcomes for text in outcome.own]
    with memgene.Memory(path) as memory:
        stored: Counter[str] = Counter()
        after = 0
        while True:
            page: Any = memory.get_all(user_id=USER, limit=1000, after=after)
            stored.update(record.text for record in page)
            if page.next is None:
                break
            after = page.next
        problems = len(memory.verify())
    handed_in = {*texts, *own}
    wrong = sum(stored[text] != 1 for text in handed_in)
    wrong += sum(text not in handed_in for text in stored)
    units = stored.total()
    wrong += abs(units - sum(outcome.fresh for outcome in outcomes))  # receipts told otherwise
    return wrong, units, problems


if __name__ == "__main__":
    main()
