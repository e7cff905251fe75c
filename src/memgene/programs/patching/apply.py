"""Hunks put into a program, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgene.programs.patching.hunk import Hunk, Kind
from memgene.programs.patching.nearest import nearest
from memgene.programs.patching.outline import Outline
from memgene.programs.patching.patched import PatchError, PatchFault
from memgene.programs.patching.places import MEASURES, Place, indented

_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class _Edit:
    """Lines `start` up to `stop` of the program become `lines`."""

    start: int
    stop: int
    lines: tuple[str, ...]
    name: str


def apply_hunks(source: str, hunks: Sequence[Hunk]) -> str:
    """The program after every hunk, each looked up in the program as it was.

    Kept lines stay as the program has them; no line outside of the hunks is touched.

    Raises:
        PatchError: a hunk is not found, fits several places, or two change the same lines.
    """
    ended = source.endswith("\n") or not source
    lines = source.removesuffix("\n").split("\n") if source else []
    outline = Outline(lines)
    edits = sorted(
        (_edit(hunk, lines, outline) for hunk in hunks if hunk.changes),
        key=lambda edit: (edit.start, edit.stop),
    )
    _check_apart(edits)
    for edit in reversed(edits):
        lines[edit.start : edit.stop] = edit.lines
    return "\n".join(lines) + ("\n" if ended and lines else "")


def _edit(hunk: Hunk, lines: list[str], outline: Outline) -> _Edit:
    if not hunk.old:
        return _addition(hunk, lines)
    for readings in hunk.readings():
        for measure in MEASURES:
            for reading in readings:
                found = [
                    edit
                    for place in measure(lines, reading.old)
                    if (edit := _made(reading, place, lines)) is not None
                ]
                if found:
                    return _chosen(reading, found, lines, outline)
    raise PatchError(
        PatchFault.NOT_FOUND,
        f"{hunk.name} does not fit: its kept and removed lines are nowhere in the program as they "
        f"stand in the patch. {nearest(lines, hunk.old)}",
    )


def _addition(hunk: Hunk, lines: list[str]) -> _Edit:
    """Lines that are only added: nothing says where, except at the end of the file."""
    if lines and not hunk.at_end:
        raise PatchError(
            PatchFault.AMBIGUOUS,
            f"{hunk.name} only adds lines and does not say where; repeat one or two "
            "unchanged lines of the program before or after them",
        )
    return _Edit(len(lines), len(lines), hunk.new, hunk.name)


def _made(hunk: Hunk, place: Place, lines: list[str]) -> _Edit | None:
    """The edit at this place, from its first to its last changed line; None where added lines
    cannot be indented as the place asks."""
    tabs = any(line.startswith("\t") for line in lines[place.start : place.start + len(hunk.old)])
    changed = [n for n, line in enumerate(hunk.lines) if line.kind is not Kind.KEEP]
    first, last = changed[0], changed[-1]
    made: list[str] = []
    at = start = place.start + sum(line.kind is not Kind.ADD for line in hunk.lines[:first])
    for line in hunk.lines[first : last + 1]:
        if line.kind is Kind.ADD:
            text: str | None = line.text
            if place.shift is not None:
                text = indented(line.text, place.shift, tabs)
            if text is None:
                return None
            made.append(text)
        else:
            made += [lines[at]] if line.kind is Kind.KEEP else []
            at += 1
    return _Edit(start, at, tuple(made), hunk.name)


def _chosen(hunk: Hunk, found: list[_Edit], lines: list[str], outline: Outline) -> _Edit:
    """The one edit, or the one that hints leave of several. Never a guess."""
    left = found
    if hunk.at_end and len(left) > 1:
        changed = [n for n, line in enumerate(hunk.lines) if line.kind is not Kind.KEEP]
        after = len(hunk.lines) - 1 - changed[-1]
        left = [edit for edit in left if edit.stop + after == len(lines)] or left
    for hint in hunk.hints if len(left) > 1 else ():
        regions = outline.regions(hint)
        left = [e for e in left if any(a <= e.start < b or e.stop == b for a, b in regions)] or left
    if len(left) == 1:
        return left[0]
    named = [_named(edit, outline) for edit in found[:_MOST_PLACES]]
    more = f" and {len(found) - _MOST_PLACES} more" if len(found) > _MOST_PLACES else ""
    raise PatchError(
        PatchFault.AMBIGUOUS,
        f"{hunk.name} fits in {len(found)} places: {', '.join(named)}{more}. Add unchanged lines "
        "above or below until it fits only one, or name the function: @@ def read",
    )


def _named(edit: _Edit, outline: Outline) -> str:
    inside = outline.around(edit.start)
    return f"line {edit.start + 1}" + (f" (in {inside})" if inside else "")


def _check_apart(edits: Sequence[_Edit]) -> None:
    for one, other in pairwise(edits):
        same = one.start == other.start and one.stop == other.stop
        if other.start < one.stop or same:
            raise PatchError(
                PatchFault.CONFLICT,
                f"{one.name} and {other.name} both change line {other.start + 1} of the program; "
                "make one hunk of them",
            )
