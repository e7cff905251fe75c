"""Cases on disk: one JSON object per line under a header, streamed, whole or not at all.

With `redact=True` a record holds ids, numbers and flags only, no text of a benchmark; that is
what may be published.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any

from memgene.core import DataError, InputError
from memgene.evaluation.case import Case, HitTrace

FORMAT = 1
_KIND = "memgene.cases"
_CASE = tuple(f.name for f in fields(Case))
_BEGIN = '{"question_id":'
_HIT = tuple(f.name for f in fields(HitTrace))


def write_cases(path: Path | str, cases: Iterable[Case], *, redact: bool = False) -> int:
    """Write cases to `path` and return how many.

    The file appears when all are written; an interrupted write leaves the former file as it was.
    Raises InputError when a case holds something JSON cannot (a NaN score, an object).
    """
    lines = (_case_line(redacted(case) if redact else case) for case in cases)
    return _write_lines(Path(path), lines, redact=redact)


def update_cases(path: Path | str, cases: Sequence[Case]) -> int:
    """`write_cases` to a file that may be there: what it holds of other questions comes first, as
    it stands. Returns how many cases the file has then."""
    target = Path(path)
    new = {case.question_id for case in cases}
    lines = (_case_line(case) for case in cases)
    if not target.exists():
        return _write_lines(target, lines)
    with _opened(target) as old:
        kept = (
            line
            for number, line in enumerate(old, start=2)
            if _question_of(line, target, number) not in new
        )
        return _write_lines(target, chain(kept, lines))


def read_cases(path: Path | str) -> list[Case]:
    """All cases of a file, as they were written."""
    return list(iter_cases(path))


def iter_cases(path: Path | str) -> Iterator[Case]:
    """Cases one by one. Raises DataError naming file and line when one cannot be read."""
    source = Path(path)
    with _opened(source) as lines:
        for number, line in enumerate(lines, start=2):
            try:
                yield _from_json(json.loads(line))
            except (ValueError, TypeError, KeyError) as problem:
                raise DataError(f"{source}:{number} is not a case record: {problem}") from problem


def redacted(case: Case) -> Case:
    """The case without any text: ids, refs, ranks, scores, flags and the kind of an error."""
    return replace(
        case,
        question="",
        gold=(),
        query={},
        context="",
        hits=None
        if case.hits is None
        else tuple(replace(hit, rendered="", why={}) for hit in case.hits),
        answer="",
        error=_kind_of(case.error),
        failure=_kind_of(case.failure),
        notes={},
        judgements={name: _without_text(said) for name, said in case.judgements.items()},
    )


def _kind_of(told: str | None) -> str | None:
    """The step and the kind of an error, without its words."""
    return None if told is None else ": ".join(told.split(": ")[:2])


def _without_text(said: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict without the judge's words and the rubric's."""
    kept = {name: value for name, value in said.items() if name != "explanation"}
    if "criteria" in kept:
        kept["criteria"] = [{"points": c["points"], "met": c["met"]} for c in kept["criteria"]]
    return kept


def _write_lines(target: Path, lines: Iterable[str], *, redact: bool = False) -> int:
    """The header and the lines, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    written = 0
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as out:
            out.write(_line({"format": FORMAT, "kind": _KIND, "redacted": redact}, "header"))
            for line in lines:
                out.write(line)
                written += 1
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return written


@contextmanager
def _opened(source: Path) -> Iterator[IO[str]]:
    """The lines after the header of a file of cases."""
    try:
        lines = source.open(encoding="utf-8", newline="\n")
    except FileNotFoundError:
        raise DataError(f"no case records at {source}; `evaluate --out` writes them") from None
    with lines:
        _check_header(source, lines.readline())
        yield lines


def _question_of(line: str, source: Path, number: int) -> str:
    """The question's id, which every record begins with: the rest need not be parsed."""
    if not line.startswith(_BEGIN):
        raise DataError(f"{source}:{number} is not a case record: no question_id comes first")
    try:
        return str(json.JSONDecoder().raw_decode(line, len(_BEGIN))[0])
    except ValueError as problem:
        raise DataError(f"{source}:{number} is not a case record: {problem}") from problem


def _case_line(case: Case) -> str:
    return _line(_to_json(case), case.question_id)


def _line(record: Mapping[str, Any], name: str) -> str:
    try:
        return json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError) as problem:
        raise InputError(f"case {name} cannot be written as JSON: {problem}") from problem


def _to_json(case: Case) -> dict[str, Any]:
    record = {name: getattr(case, name) for name in _CASE}
    if case.hits is not None:
        record["hits"] = [{name: getattr(hit, name) for name in _HIT} for hit in case.hits]
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _from_json(record: dict[str, Any]) -> Case:
    unknown = record.keys() - set(_CASE)
    if unknown:
        raise KeyError(f"unknown fields {sorted(unknown)}")
    hits = record["hits"]
    record["hits"] = None if hits is None else tuple(_hit(hit) for hit in hits)
    for name in ("gold", "evidence"):
        record[name] = tuple(record[name])
    return Case(**record)


def _hit(record: dict[str, Any]) -> HitTrace:
    record["refs"] = tuple(record["refs"])
    return HitTrace(**record)


def _check_header(source: Path, line: str) -> None:
    try:
        header = json.loads(line)
        kind, number = header["kind"], header["format"]
    except (ValueError, TypeError, KeyError):
        raise DataError(f"{source}:1 has no header; it is not a file of case records") from None
    if kind != _KIND or number != FORMAT:
        raise DataError(
            f"{source}:1 is {kind!r} format {number}; this version reads {_KIND!r} format {FORMAT}"
        )
