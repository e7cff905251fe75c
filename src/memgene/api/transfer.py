"""Export and import: a bank as JSON lines that any version, backend or embedder can read.

Line 1 names the format; then one line per unit, relation and value. Vectors are not written: the
importing memory makes its own. History stays with the bank it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from memgene.api.records import Row, from_record, to_record
from memgene.bank.protocol import Bank, Fate, Filter, Relation, UnitReceipt, Value
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import DataError
from memgene.engine import MemoryEngine

FORMAT = 1
KIND = "memgene.bank"
_BATCH = 1000


def export(bank: Bank, target: str | Path | IO[str]) -> int:
    """Write the whole bank to a file or text stream; returns the number of units."""
    count = 0
    with _opened(target, "w") as out:
        out.write(json.dumps({"kind": KIND, "format": FORMAT}) + "\n")
        for row in _rows(bank):
            out.write(json.dumps(to_record(row), ensure_ascii=False) + "\n")
            count += isinstance(row, MemoryUnit)
    return count


def read(engine: MemoryEngine, origin: str | Path | IO[str]) -> list[UnitReceipt]:
    """Store what an export holds, in one transaction; one receipt per unit, in file order.

    Values of units that were here already stay as they are here. Raises DataError naming the line
    that cannot be read; then nothing is stored.
    """
    units: list[MemoryUnit] = []
    relations: list[Relation] = []
    values: list[Value] = []
    with _opened(origin, "r") as lines:
        for row in _parsed(lines):
            if isinstance(row, MemoryUnit):
                units.append(row)
            elif isinstance(row, Relation):
                relations.append(row)
            else:
                values.append(row)
    with engine.bank.atomic():
        receipts: list[UnitReceipt] = []
        for start in range(0, len(units), _BATCH):
            receipts += engine.write(units[start : start + _BATCH])
        _attach(engine.bank, units, receipts, relations, values)
    return receipts


def _attach(
    bank: Bank,
    units: list[MemoryUnit],
    receipts: list[UnitReceipt],
    relations: list[Relation],
    values: list[Value],
) -> None:
    """Relations and values, under the ids the units have here."""
    here = {
        unit.id: receipt
        for unit, receipt in zip(units, receipts, strict=True)
        if receipt.fate is not Fate.REFUSED
    }
    edges = [
        Relation(r.kind, here[r.source_id].id, here[r.target_id].id, r.weight)
        for r in relations
        if r.source_id in here and r.target_id in here
    ]
    new = [
        Value(here[v.unit_id].id, v.cluster, v.q, v.exposures)
        for v in values
        if v.unit_id in here and here[v.unit_id].fate is not Fate.MERGED
    ]
    if edges:
        bank.relate(edges)
    if new:
        bank.set_values(new)


def _rows(bank: Bank) -> Iterator[Row]:
    """All units, then what hangs on them; each relation once, after both its ends."""
    ids = []
    for unit in bank.scan(None, Filter(statuses=tuple(UnitStatus))):
        ids.append(unit.id)
        yield unit
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        held = frozenset(some)
        yield from (r for r in bank.relations(some) if r.source_id in held)
        yield from bank.values(some)


def _parsed(lines: IO[str]) -> Iterator[Row]:
    header = lines.readline()
    try:
        first = json.loads(header)
        known = (first["kind"], first["format"]) == (KIND, FORMAT)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise DataError(
            f'line 1 is not {{"kind": "{KIND}", "format": {FORMAT}}}: '
            "this is no export of a memory, or one of another version"
        )
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            yield from_record(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"line {number} of the import is malformed: {error}") from error


def _opened(place: str | Path | IO[str], mode: str) -> AbstractContextManager[IO[str]]:
    if isinstance(place, str | Path):
        try:
            return Path(place).open(mode, encoding="utf-8", newline="\n" if mode == "w" else None)
        except OSError as error:
            raise DataError(f"{place} cannot be opened: {error.strerror}") from error
    return nullcontext(place)
