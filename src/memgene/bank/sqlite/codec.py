"""Units to rows and back: what is stored how, and which units cannot be stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from memgene.bank.scripts import is_unspaced
from memgene.bank.unit import MemoryUnit, UnitStatus, UnitType, render_date
from memgene.core import Scope

TEXT_LIMIT = 1 << 20
"""Most bytes (UTF-8) of one text, and of the metadata as JSON."""

LISTS = ("refs", "entities", "persons", "locations", "topics", "keywords", "tags")
_TEXTS = ("content", "summary", "speaker", "source", "id", "supersedes", "superseded_by")
_SHARES = ("importance", "confidence", "utility")
_COUNTS = ("reinforcement", "access_count")
_TURNS = ("turn_start", "turn_end")
_TIMES = ("event_time", "created", "updated", "last_accessed", "expires")
_LARGEST = 1 << 63

COLUMNS = (
    *("id", "identity", "scope", "status", "type", "event_key", "dated", "unspaced"),
    *_SHARES,
    *_COUNTS,
    *("source", "turn_start", "turn_end", "speaker", "supersedes", "superseded_by"),
    *_TIMES,
    *LISTS,
    *("metadata", "summary", "content"),
)
INSERT = f"INSERT INTO units ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
REPLACE = f"UPDATE units SET {', '.join(f'{c} = ?' for c in COLUMNS)} WHERE seq = ?"

# A select gives the fields in the order MemoryUnit takes them, then the ids of the scope.
_FIELDS = tuple(f.name for f in fields(MemoryUnit))
SELECTED = ", ".join([f"u.{name}" for name in _FIELDS] + ["s.user_id", "s.agent_id", "s.run_id"])
FROM_UNITS = "units u CROSS JOIN scopes s ON s.num = u.scope"
_SCOPE, _TYPE, _STATUS, _METADATA = map(_FIELDS.index, ("scope", "type", "status", "metadata"))
_LIST_PLACES = tuple(map(_FIELDS.index, LISTS))
_TIME_PLACES = tuple(map(_FIELDS.index, _TIMES))

_TYPES = {t.value: t for t in UnitType}
_STATUSES = {s.value: s for s in UnitStatus}
_SEPARATOR, _AS_JSON = "\x1e", "\x1d"
_read_json = json.JSONDecoder().raw_decode
_write_json = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def to_json(value: Any) -> str:
    """Compact JSON that keeps every script readable."""
    return _write_json(value)


def encode(unit: MemoryUnit, unit_id: str, identity: str, scope: int, now: str) -> list[Any]:
    """The row of a unit, in the order of COLUMNS. Absent times of storage become `now`."""
    created = unit.created.isoformat() if unit.created else now
    row = [
        unit_id,
        bytes.fromhex(identity),
        scope,
        _STATUSES[unit.status].value,
        _TYPES[unit.type].value,
        event_key(unit.event_time),
        dated(unit),
        needs_grams(unit),
        unit.importance,
        unit.confidence,
        unit.utility,
        unit.reinforcement,
        unit.access_count,
        unit.source,
        unit.turn_start,
        unit.turn_end,
        unit.speaker,
        unit.supersedes,
        unit.superseded_by,
        unit.event_time.isoformat() if unit.event_time else None,
        created,
        unit.updated.isoformat() if unit.updated else created,
        unit.last_accessed.isoformat() if unit.last_accessed else None,
        unit.expires.isoformat() if unit.expires else None,
    ]
    row += [_pack(value) if (value := getattr(unit, name)) else None for name in LISTS]
    row += [_write_json(unit.metadata) if unit.metadata else None, unit.summary, unit.content]
    return row


class Decoder:
    """Rows of `SELECT {SELECTED}` to units; remembers scopes and times, which repeat a lot."""

    def __init__(self) -> None:
        self._scopes: dict[tuple[str, str, str], Scope] = {}
        self._times: dict[str | None, datetime | None] = {None: None}

    def unit(self, row: Sequence[Any]) -> MemoryUnit:
        """The unit of one row."""
        values = list(row[:-3])
        user, agent, run = row[-3:]
        values[_SCOPE] = self._scopes.get((user, agent, run)) or self._scope(user, agent, run)
        values[_TYPE] = _TYPES[values[_TYPE]]
        values[_STATUS] = _STATUSES[values[_STATUS]]
        for place in _LIST_PLACES:
            text = values[place]
            values[place] = () if text is None else _unpack(text)
        times = self._times
        for place in _TIME_PLACES:
            text = values[place]
            if text is not None:
                values[place] = times.get(text) or self._time(text)
        text = values[_METADATA]
        values[_METADATA] = _read_json(text)[0] if text else {}
        return MemoryUnit(*values)

    def _scope(self, user: str, agent: str, run: str) -> Scope:
        scope = Scope(user or None, agent or None, run or None)
        self._scopes[user, agent, run] = scope
        return scope

    def _time(self, text: str) -> datetime:
        moment = self._times[text] = datetime.fromisoformat(text)
        return moment


def _pack(items: tuple[str, ...]) -> str:
    """A list as words the index can read; as JSON if an item holds the separator itself."""
    text = _SEPARATOR.join(items)
    if text.count(_SEPARATOR) == len(items) - 1 and not text.startswith(_AS_JSON):
        return text
    return _AS_JSON + _write_json(items)


def _unpack(text: str) -> tuple[str, ...]:
    if _AS_JSON in text and text.startswith(_AS_JSON):
        return tuple(json.loads(text[1:]))
    return tuple(text.split(_SEPARATOR))


def event_key(moment: datetime | None) -> int | None:
    """Microseconds since 1970, for comparisons. Naive times are taken as given."""
    if moment is None:
        return None
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def dated(unit: MemoryUnit) -> str | None:
    """The date as it is rendered, stored so that the index reads what `rendered` says."""
    return render_date(unit.event_time) if unit.event_time else None


def needs_grams(unit: MemoryUnit) -> bool:
    """Whether any searched text of the unit has a script without spaces."""
    return any(map(is_unspaced, indexed_texts(unit)))


def indexed_texts(unit: MemoryUnit) -> tuple[str, ...]:
    """The texts a word search looks at (the date aside)."""
    return (unit.content, unit.speaker or "", unit.summary, *unit.entities, *unit.topics)


def refusal(unit: MemoryUnit) -> str | None:
    """Why a unit cannot be stored, or None when it can."""
    return _bad_text(unit) or _bad_list(unit) or _bad_number(unit) or _bad_metadata(unit.metadata)


def storable(text: str) -> bool:
    """Whether SQLite can take the text: no lone surrogates, no NUL."""
    if text.isascii():
        return "\x00" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def _bad_text(unit: MemoryUnit) -> str | None:
    for name in _TEXTS:
        text = getattr(unit, name)
        if text is None and name not in ("content", "summary", "id"):
            continue
        if not isinstance(text, str):
            return f"{name} must be text, got {type(text).__name__}"
        if not storable(text):
            return f"{name} holds a lone surrogate or NUL, which cannot be stored as text"
        if len(text) > TEXT_LIMIT // 4 and len(text.encode()) > TEXT_LIMIT:
            return f"{name} has {len(text.encode())} bytes; at most {TEXT_LIMIT} are stored"
    if not unit.content.strip():
        return "content is blank"
    if not all(map(storable, filter(None, (unit.scope.user_id, unit.scope.agent_id)))) or not (
        storable(unit.scope.run_id or "")
    ):
        return "an id of the scope holds a lone surrogate or NUL"
    return None


def _bad_list(unit: MemoryUnit) -> str | None:
    for name in LISTS:
        for text in getattr(unit, name):
            if not isinstance(text, str):
                return f"{name} must hold texts, got {type(text).__name__}"
            if not storable(text):
                return f"{name} holds a lone surrogate or NUL, which cannot be stored as text"
    return None


def _bad_number(unit: MemoryUnit) -> str | None:
    for name in _SHARES:
        if not 0.0 <= getattr(unit, name) <= 1.0:
            return f"{name} must lie in [0, 1], got {getattr(unit, name)}"
    for name in (*_COUNTS, *_TURNS):
        number = getattr(unit, name)
        if number is not None and not 0 <= number < _LARGEST:
            return f"{name} must be a whole number from 0, got {number}"
    return None


def _bad_metadata(metadata: Mapping[str, Any]) -> str | None:
    if not metadata:
        return None
    wrong = not_json(metadata, "metadata")
    if wrong:
        return wrong
    text = _write_json(metadata)
    if not storable(text):
        return "metadata holds a lone surrogate, which cannot be stored as text"
    if len(text.encode()) > TEXT_LIMIT:
        return f"metadata has {len(text.encode())} bytes as JSON; at most {TEXT_LIMIT} are stored"
    return None


def not_json(value: Any, where: str) -> str | None:
    """Why a value would not come back from JSON as it went in."""
    if value is None or isinstance(value, str | bool | int):
        return None
    if isinstance(value, float):
        return None if isfinite(value) else f"{where} is {value}, which JSON cannot hold"
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                return f"{where} has the key {key!r}; keys must be text"
            if wrong := not_json(inner, f"{where}[{key!r}]"):
                return wrong
        return None
    if isinstance(value, list | tuple):
        inners = (not_json(inner, f"{where}[{i}]") for i, inner in enumerate(value))
        return next(filter(None, inners), None)
    return f"{where} is a {type(value).__name__}, which JSON cannot hold"
