"""A bank as JSON lines: lossless, and readable by any backend.

Line 1 is the header `{"memgene_bank": 2, "embedder": …}`. Then one object per line with a single
key that says what it is: `unit` (fields that differ from their default; its vector as base64 of
little-endian float32), `relation`, `value`, `state` (its content as base64), and on request
`history`, which tells readers what happened and is passed over by an import (the importing bank
writes its own).

The format of `Memory.export` and `import_`. Vectors of another embedder than the importing
memory's are set aside, and their units embedded anew.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import IO, Any

import numpy as np

from memgene.bank.portable_fields import FIELDS, as_number, as_text, as_whole, read_field
from memgene.bank.protocol import (
    Bank,
    EmbedderInfo,
    Fate,
    Filter,
    Relation,
    RelationKind,
    UnitReceipt,
    Value,
    Vectors,
)
from memgene.bank.unit import MemoryUnit, UnitStatus
from memgene.core import DataError, InputError, Scope

FORMAT = 2
"""Format 1 had no states; it is read like this one."""
_MARK = "memgene_bank"
_KINDS = ("unit", "relation", "value", "state", "history")
_BATCH = 1000
_WHOLE_BANK = ""  # the unit id in the history of states
_SCOPE = ("user_id", "agent_id", "run_id")
Write = Callable[[Sequence[MemoryUnit]], list[UnitReceipt]]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: a receipt per unit line, relations, values and states written.

    `set_aside` counts vectors of the export that were not taken; `made_by` is who made them.
    """

    receipts: tuple[UnitReceipt, ...]
    relations: int
    values: int
    set_aside: int = 0
    made_by: EmbedderInfo | None = None
    states: int = 0


def export_jsonl(
    bank: Bank, stream: IO[str], scope: Scope | None = None, *, history: bool = False
) -> int:
    """Write all units the scope admits (None: all owners), of any status; returns their number.

    Relations and lineage that lead out of the export are left out. So are states when there is a
    scope: they were learned from everyone's units.
    """
    with bank.atomic():
        info = bank.embedder()
        _write(stream, {_MARK: FORMAT, "embedder": asdict(info) if info else None})
        everything = Filter(statuses=tuple(UnitStatus))
        ids = [unit.id for unit in bank.scan(scope, everything)]
        held = frozenset(ids)
        units = bank.scan(scope, everything)
        while some := list(islice(units, _BATCH)):
            _write_units(bank, stream, some, held)
        for start in range(0, len(ids), _BATCH):
            _write_hanging(bank, stream, ids[start : start + _BATCH], held)
        for name in bank.states() if scope is None else ():
            content = base64.b64encode(bank.state(name) or b"").decode("ascii")
            _write(stream, {"state": {"name": name, "content": content}})
        if history:
            _write_history(bank, stream, ids if scope else [*ids, _WHOLE_BANK])
    return len(ids)


def import_jsonl(
    bank: Bank,
    stream: Iterable[str],
    *,
    embedder: EmbedderInfo | None = None,
    write: Write | None = None,
) -> Imported:
    """Store what an export holds, in one transaction.

    Units merge with exact duplicates as `Bank.add` says; relations and values follow them, and
    those of refused units are left out. A state that the bank has already stays as it is.

    Args:
        embedder: whose vectors are taken; those of any other are set aside. None: the export's.
        write: stores the units that bring no vector to take; by default without one.

    Raises:
        DataError: names the line that cannot be read; nothing is stored then.
        EmbedderMismatchError: the vectors to take are not of the bank's embedder; likewise.
    """
    lines = _objects(stream)
    _, header = next(lines, (1, {}))
    info = _embedder(header)
    into = _Import(bank, info, embedder is None or embedder == info, write or bank.add)
    with bank.atomic():
        for kind, run in groupby(lines, key=_kind):
            while batch := list(islice(run, _BATCH)):
                if kind == "unit":
                    into.add(batch)
                elif kind == "relation":
                    into.relate(batch)
                elif kind == "value":
                    into.value(batch)
                elif kind == "state":
                    into.state(batch)
    return Imported(
        tuple(into.receipts),
        into.relations,
        into.values,
        into.set_aside,
        info if into.set_aside else None,
        into.states,
    )


# -- writing
def _write(stream: IO[str], row: Mapping[str, Any]) -> None:
    stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def _write_units(
    bank: Bank, stream: IO[str], units: list[MemoryUnit], held: frozenset[str]
) -> None:
    ids, matrix = bank.vectors([unit.id for unit in units])
    vectors = dict(zip(ids, matrix, strict=True))
    for unit in units:
        row = _unit_row(unit, held)
        if unit.id in vectors:
            blob = vectors[unit.id].astype("<f4").tobytes()
            row["vector"] = base64.b64encode(blob).decode("ascii")
        _write(stream, {"unit": row})


def _unit_row(unit: MemoryUnit, held: frozenset[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: value for name in _SCOPE if (value := getattr(unit.scope, name)) is not None
    }
    for name, declared in FIELDS.items():
        value = getattr(unit, name)
        if name in ("supersedes", "superseded_by") and value not in held:
            value = None
        default = declared.default
        if default is MISSING and declared.default_factory is not MISSING:
            default = declared.default_factory()
        if value != default or name == "content":
            row[name] = value.isoformat() if isinstance(value, datetime) else value
    return row


def _write_hanging(bank: Bank, stream: IO[str], ids: list[str], held: frozenset[str]) -> None:
    some = frozenset(ids)
    for edge in bank.relations(ids):
        if edge.source_id in some and edge.target_id in held:
            _write(stream, {"relation": asdict(edge)})
    for value in bank.values(ids):
        _write(stream, {"value": asdict(value)})


def _write_history(bank: Bank, stream: IO[str], ids: list[str]) -> None:
    for unit_id in ids:
        for entry in bank.history(unit_id):
            _write(stream, {"history": asdict(entry) | {"time": entry.time.isoformat()}})


# -- reading
_Line = tuple[int, dict[str, Any]]


def _objects(stream: Iterable[str]) -> Iterator[_Line]:
    for number, line in enumerate(_lines(stream), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"line {number} of the import is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"line {number} of the import is not a JSON object")
        yield number, row


def _lines(stream: Iterable[str]) -> Iterator[str]:
    read = 0
    try:
        for line in stream:
            yield line
            read += 1
    except UnicodeDecodeError as error:
        raise DataError(f"the import is not UTF-8 text after line {read}: {error}") from error


def _embedder(header: dict[str, Any]) -> EmbedderInfo | None:
    mark = header.get(_MARK)
    if not isinstance(mark, int):
        raise DataError(f'line 1 of the import is not a header {{"{_MARK}": {FORMAT}, …}}')
    if mark > FORMAT:
        raise DataError(
            f"line 1 of the import: format {mark}, but this memgene reads up to {FORMAT}; "
            "upgrade memgene"
        )
    info = header.get("embedder")
    if info is None:
        return None
    try:
        return EmbedderInfo(as_text(info["name"]), as_whole(info["dimension"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"line 1 of the import: the embedder is malformed: {error}") from error


def _kind(line: _Line) -> str:
    number, row = line
    kind = next(iter(row), "")
    if len(row) != 1 or kind not in _KINDS:
        raise DataError(
            f"line {number} of the import must hold one of {', '.join(_KINDS)}; "
            f"it holds {', '.join(row) or 'nothing'}"
        )
    if not isinstance(row[kind], dict):
        raise DataError(f"line {number} of the import: {kind} must be an object")
    return kind


class _Import:
    """One import under way: `here` has the fate of every unit read so far, by its id there."""

    def __init__(self, bank: Bank, info: EmbedderInfo | None, takes: bool, write: Write) -> None:
        self._bank = bank
        self._info = info
        self._takes = takes
        self._write = write
        self._here: dict[str, UnitReceipt] = {}
        self.receipts: list[UnitReceipt] = []
        self.relations = self.values = self.states = self.set_aside = 0

    def add(self, batch: list[_Line]) -> None:
        parsed = [_parsed_unit(number, row["unit"], self._info) for number, row in batch]
        for embedded, run in groupby(parsed, key=lambda pair: pair[1] is not None):
            units, vectors = zip(*run, strict=True)
            if embedded and self._takes and self._info:
                self._bank.set_embedder(self._info)
                receipts = self._bank.add(units, np.stack(vectors))
            else:
                receipts = self._write(units)
                self.set_aside += len(units) if embedded else 0
            self.receipts += receipts
            for unit, receipt in zip(units, receipts, strict=True):
                self._here[unit.id or receipt.id] = receipt

    def relate(self, batch: list[_Line]) -> None:
        """Relations under the ids their units have in this bank."""
        edges = [_relation(number, row["relation"], self._here) for number, row in batch]
        self.relations += self._bank.relate([edge for edge in edges if edge])

    def value(self, batch: list[_Line]) -> None:
        """Values under the ids their units have in this bank."""
        found = [_value(number, row["value"], self._here) for number, row in batch]
        values = [value for value in found if value]
        self._bank.set_values(values)
        self.values += len(values)

    def state(self, batch: list[_Line]) -> None:
        """States that the bank does not have."""
        for number, row in batch:
            name, content = _state(number, row["state"])
            if self._bank.state(name) is not None:
                continue
            try:
                self._bank.set_state(name, content)
            except InputError as error:
                raise _malformed(number, "state", error) from error
            self.states += 1


def _parsed_unit(
    number: int, row: dict[str, Any], info: EmbedderInfo | None
) -> tuple[MemoryUnit, Vectors | None]:
    try:
        vector = _vector(row["vector"], info) if "vector" in row else None
        scope = Scope(*(as_text(row[name]) if name in row else None for name in _SCOPE))
        given = {
            name: read_field(name, value)
            for name, value in row.items()
            if name not in (*_SCOPE, "vector")
        }
        return MemoryUnit(scope=scope, **given), vector
    except (TypeError, ValueError, binascii.Error, InputError) as error:
        raise DataError(f"line {number} of the import: the unit is malformed: {error}") from error


def _vector(value: Any, info: EmbedderInfo | None) -> Vectors:
    blob = base64.b64decode(as_text(value), validate=True)
    if info is None or len(blob) != 4 * info.dimension:
        raise ValueError("its vector has not the size of the embedder in line 1")
    vector = np.frombuffer(blob, "<f4")
    if not np.isfinite(vector).all():
        raise ValueError("its vector holds NaN or infinity")
    return vector


def _relation(number: int, row: dict[str, Any], here: dict[str, UnitReceipt]) -> Relation | None:
    try:
        ends = [here[as_text(row[name])] for name in ("source_id", "target_id")]
        kind, weight = RelationKind(row["kind"]), as_number(row["weight"])
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed(number, "relation", error) from error
    if any(receipt.fate is Fate.REFUSED for receipt in ends):
        return None
    return Relation(kind, ends[0].id, ends[1].id, weight)


def _value(number: int, row: dict[str, Any], here: dict[str, UnitReceipt]) -> Value | None:
    """None for units that were here before: what they have learned here stays."""
    try:
        receipt = here[as_text(row["unit_id"])]
        cluster, q = as_text(row["cluster"]), as_number(row["q"])
        exposures = as_whole(row["exposures"])
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed(number, "value", error) from error
    if receipt.fate is not Fate.ADDED:
        return None
    return Value(receipt.id, cluster, q, exposures)


def _state(number: int, row: dict[str, Any]) -> tuple[str, bytes]:
    try:
        return as_text(row["name"]), base64.b64decode(as_text(row["content"]), validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed(number, "state", error) from error


def _malformed(number: int, kind: str, error: Exception) -> DataError:
    what: object = error
    if isinstance(error, KeyError):
        what = f"{error} is missing"
        if kind != "state":
            what += ", or no unit before has this id"
    return DataError(f"line {number} of the import: the {kind} is malformed: {what}")
