"""How fast a batch goes into a bank that holds others already, duplicates checked.

    python benchmarks/ingest.py

A tenth of the batch is stored already. Beside it stand, in the same run, the embedder alone on the
texts that are new, and SQLite alone inserting the same rows (a table, and a table with a full-text
index).
"""

from __future__ import annotations

import argparse
import itertools
import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from common import add_data_option, finish, note, read_task, table, timed
from dialogue import SCOPE, Corpus, made, repeated

import memgene
from memgene.bank import MemoryUnit, open_bank
from memgene.bank.protocol import Vectors
from memgene.core import Episode, Message
from memgene.embed import load_embedder
from memgene.engine import MemoryEngine

_DUPLICATES = 0.1


def main() -> None:
    options = _options()
    total = options.bank + options.batch
    corpus = (
        made(total, 1)
        if options.data is None
        else repeated(read_task("locomo", options.data), total, 1)
    )
    stored, batch, new = _divided(corpus, options.bank, options.batch)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        note("the batch at once")
        batch_seconds, unit_bytes = _batch(place / "batch.db", stored, batch, options.embedder)
        note("session by session")
        session_seconds, session_units = _sessions(
            place / "sessions.db", stored, new, options.embedder
        )
        note("the embedder alone")
        embed_seconds, vectors = _embedding(new, options.embedder)
        note("SQLite alone")
        bare_seconds = _bare(place / "bare.db", new, vectors, full_text=False)
        text_seconds = _bare(place / "text.db", new, vectors, full_text=True)
    rates = {
        "one batch": len(batch) / batch_seconds,
        "Memory.add, session by session": session_units / session_seconds,
        "the embedder alone": len(new) / embed_seconds,
        "SQLite alone": len(new) / bare_seconds,
        "SQLite alone, with full text": len(new) / text_seconds,
    }
    table(
        f"{len(batch)} units into a bank of {len(stored)}, {_DUPLICATES:.0%} stored already",
        ("what", "units/s", "share of it that one batch reaches"),
        [(n, f"{r:,.0f}", f"{rates['one batch'] / r:.2f}") for n, r in rates.items()],
    )
    said = sum(len(u.rendered.encode()) for u in new) / len(new)
    vector = vectors.nbytes / len(new)
    table(
        "bytes a unit",
        ("file", "text", "vector"),
        [(f"{unit_bytes:,.0f}", f"{said:,.0f}", f"{vector:,.0f}")],
    )
    finish(
        "ingest",
        {
            "bank": len(stored),
            "batch": len(batch),
            "embedder": options.embedder,
            "text": corpus.origin,
            "units_per_second": {name: round(rate) for name, rate in rates.items()},
            "ratio_to_embedder": round(rates["one batch"] / rates["the embedder alone"], 3),
            "ratio_to_sqlite": round(rates["one batch"] / rates["SQLite alone"], 3),
            "bytes_per_unit": {
                "file": round(unit_bytes),
                "text": round(said),
                "vector": round(vector),
            },
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bank", type=int, default=10_000, help="units stored before")
    parser.add_argument("--batch", type=int, default=10_000, help="units handed in")
    parser.add_argument("--embedder", default="static")
    add_data_option(parser)
    return parser.parse_args()


def _divided(
    corpus: Corpus, bank: int, batch: int
) -> tuple[list[MemoryUnit], list[MemoryUnit], list[MemoryUnit]]:
    """What is stored before, the batch in random order, and what of it is new."""
    draw = random.Random(0)
    again = min(bank, round(_DUPLICATES * batch))
    stored = list(corpus.units[:bank])
    new = list(corpus.units[bank : bank + batch - again])
    handed_in = [*new, *draw.sample(stored, again)]
    draw.shuffle(handed_in)
    return stored, handed_in, new


def _batch(
    path: Path, stored: Sequence[MemoryUnit], batch: Sequence[MemoryUnit], embedder: str
) -> tuple[float, float]:
    """Seconds of one `write`, and bytes of the file a unit."""
    bank = open_bank(path)
    try:
        engine = MemoryEngine(bank, load_embedder(embedder))
        engine.write(stored)
        with timed() as watch:
            receipts = engine.write(batch)
        fates = Counter(str(receipt.fate) for receipt in receipts)
        units = bank.stats().units
        if fates["added"] + len(stored) != units or fates["added"] + fates["merged"] != len(batch):
            raise SystemExit(f"the receipts say {dict(fates)}, the bank holds {units} units")
    finally:
        bank.close()
    return watch.seconds, path.stat().st_size / units


def _sessions(
    path: Path, stored: Sequence[MemoryUnit], new: Sequence[MemoryUnit], embedder: str
) -> tuple[float, int]:
    """Seconds and units of the new sessions and some stored ones, one `Memory.add` each."""
    before, fresh = _episodes(stored), _episodes(new)
    again = before[: max(1, round(_DUPLICATES * len(fresh)))]
    with memgene.Memory(path, embedder=embedder) as memory:
        for episode in before:
            memory.add(episode, user_id=SCOPE.user_id)
        with timed() as watch:
            for episode in (*fresh, *again):
                memory.add(episode, user_id=SCOPE.user_id)
    return watch.seconds, sum(len(e.messages) for e in (*fresh, *again))


def _episodes(units: Sequence[MemoryUnit]) -> list[Episode]:
    """The units' sessions (neighbouring units of one source) as they were said."""
    return [
        Episode(
            str(source), tuple(Message(u.content, speaker=u.speaker) for u in said), "all", time
        )
        for (source, time), same in itertools.groupby(units, lambda u: (u.source, u.event_time))
        if (said := list(same))
    ]


def _embedding(units: Sequence[MemoryUnit], embedder: str) -> tuple[float, Vectors]:
    """Seconds of the embedder on the texts, and their vectors."""
    loaded = load_embedder(embedder)
    loaded.embed(["warm up"])
    texts = [unit.rendered for unit in units]
    with timed() as watch:
        vectors = loaded.embed(texts)
    return watch.seconds, vectors


def _bare(path: Path, units: Sequence[MemoryUnit], vectors: Vectors, *, full_text: bool) -> float:
    """Seconds in which SQLite inserts the same rows in one transaction, nothing checked."""
    rows = [
        (
            u.identity(),
            u.source,
            u.turn_start,
            u.speaker,
            str(u.event_time),
            u.rendered,
            v.tobytes(),
        )
        for u, v in zip(units, vectors, strict=True)
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE units (id TEXT PRIMARY KEY, source TEXT, turn INTEGER, speaker TEXT,"
            " time TEXT, content TEXT, vector BLOB)"
        )
        connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5"
            " (content, content = 'units', tokenize = 'porter unicode61')"
        )
        with timed() as watch:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            if full_text:
                connection.execute("INSERT INTO words(words) VALUES ('rebuild')")
            connection.execute("COMMIT")
    finally:
        connection.close()
    return watch.seconds


if __name__ == "__main__":
    main()
