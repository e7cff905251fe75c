"""How long linking takes by the size of the bank: all at once, and after one unit more or less.

    python benchmarks/links.py --sizes 5000,20000
    python benchmarks/links.py --sizes 100000 --data PATH

All units are one owner's, the worst case: owners are linked apart. `at once` is a first
`MemoryEngine.link` with calibration and writing; `a unit more` is one after `write` of one unit by
the same engine, `a unit less` one after its deletion, `read anew` one by a new engine after one
change, which has to work out everything. Processor time stands beside the time that passed, for
machines that do other things meanwhile.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from common import Latency, add_data_option, finish, note, read_task, table
from dialogue import Corpus, made, repeated

from memgene.bank import RelationKind, open_bank
from memgene.bank.unit import MemoryUnit
from memgene.embed import load_embedder
from memgene.engine import MemoryEngine
from memgene.engine.linking import LinkReport

_BATCH = 5_000


def main() -> None:
    options = _options()
    task = None if options.data is None else read_task("locomo", options.data)
    results = []
    for size in options.sizes:
        many = size + options.adds
        corpus = made(many, 1) if task is None else repeated(task, many, 1)
        with tempfile.TemporaryDirectory() as folder:
            note(f"{size} units: writing")
            results.append(_measured(Path(folder) / "bank.db", corpus, size, options.embedder))
    origin = "made" if task is None else task.name
    table(
        f"link, {options.embedder}, text: {origin}",
        (
            "units",
            "at once s",
            "computed s",
            "a unit more p50 ms",
            "p95 ms",
            "a unit less p50 ms",
            "p95 ms",
            "read anew s",
        ),
        [_times(result) for result in results],
    )
    table(
        "edges a unit",
        ("units", *RelationKind, "least cosine"),
        [_edges(result) for result in results],
    )
    finish("links", {"embedder": options.embedder, "text": origin, "sizes": results})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=_whole_numbers, default=[5_000, 20_000])
    parser.add_argument("--adds", type=int, default=50, help="units added and deleted one by one")
    parser.add_argument("--embedder", default="static")
    add_data_option(parser)
    return parser.parse_args()


def _whole_numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _measured(path: Path, corpus: Corpus, size: int, embedder: str) -> dict[str, Any]:
    stored, more = corpus.units[:size], corpus.units[size:]
    bank = open_bank(path)
    try:
        engine = MemoryEngine(bank, load_embedder(embedder))
        for start in range(0, size, _BATCH):
            engine.write(stored[start : start + _BATCH])
        note(f"{size} units: linking")
        report, passed, busy = _timed(engine.link)
        note(f"{size} units: one by one")
        added = [_after_write(engine, unit) for unit in more]
        ids = [unit.id for unit in bank.scan(None, after=size)]
        deleted = []
        for unit_id in ids:
            bank.delete([unit_id])
            deleted.append(_timed(engine.link)[1])
        bank.delete([next(iter(bank.scan())).id])
        _, anew, _ = _timed(MemoryEngine(bank, load_embedder(embedder)).link)
    finally:
        bank.close()
    return {
        "units": size,
        "seconds": round(passed, 2),
        "busy_seconds": round(busy, 2),
        "added": Latency.of(added).to_json(),
        "deleted": Latency.of(deleted).to_json(),
        "anew_seconds": round(anew, 2),
        "edges": {kind.value: report.added.get(kind, 0) for kind in RelationKind},
        "threshold": report.threshold,
    }


def _after_write(engine: MemoryEngine, unit: MemoryUnit) -> float:
    engine.write([unit])
    return _timed(engine.link)[1]


def _timed(action: Callable[[], LinkReport]) -> tuple[LinkReport, float, float]:
    """What it gave, seconds that passed, and seconds of the processor."""
    passed, busy = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - passed, time.process_time() - busy


def _times(result: dict[str, Any]) -> Sequence[str]:
    more, less = result["added"], result["deleted"]
    return (
        f"{result['units']:,}",
        f"{result['seconds']:.1f}",
        f"{result['busy_seconds']:.1f}",
        f"{more['p50_ms']:.1f}",
        f"{more['p95_ms']:.1f}",
        f"{less['p50_ms']:.1f}",
        f"{less['p95_ms']:.1f}",
        f"{result['anew_seconds']:.1f}",
    )


def _edges(result: dict[str, Any]) -> Sequence[str]:
    edges = [f"{result['edges'][kind] / result['units']:.2f}" for kind in RelationKind]
    return (f"{result['units']:,}", *edges, f"{result['threshold']:.3f}")


if __name__ == "__main__":
    main()
