"""The V4A form: `*** Begin Patch`, `*** Update File`, `@@ hint`, marked lines, `*** End Patch`.

A unified diff is read as the same thing; its line numbers are not trusted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memgene.programs.patching.hunk import Hunk, Kind, Line
from memgene.programs.patching.patched import PatchError, PatchFault

BEGIN = re.compile(r"^\*\*\* *Begin Patch\b.*$", re.MULTILINE | re.IGNORECASE)
END = re.compile(r"^\*\*\* *End Patch\b.*$", re.MULTILINE | re.IGNORECASE)
UPDATE = re.compile(r"^\*\*\* *Update File\b.*$", re.MULTILINE | re.IGNORECASE)

FILE = "program.py"
_SECTION = re.compile(r"^\*\*\* *(update|add|delete) file *:? *(.*?) *(?:\*\*\*)?$", re.IGNORECASE)
_MOVE = re.compile(r"^\*\*\* *Move to\b", re.IGNORECASE)
_LAST = re.compile(r"^\*\*\* *End of File\b", re.IGNORECASE)
_HEAD = re.compile(r"^@@(?: *-\d+(?:,\d+)? \+\d+(?:,\d+)? *@@)?(.*?)(?: *@@)?$")
_FILES = re.compile(r"^(?:diff --git .*\n)?(?:index .*\n)?--- .*\n\+\+\+ .*\n(?=@@)", re.MULTILINE)
_FENCE = re.compile(r"^(?:```|~~~)[\w.+-]*$")
_NO_NEWLINE = "\\ No newline"


@dataclass(frozen=True, slots=True)
class V4A:
    """What a patch holds: hunks, or a whole new file (`*** Add File: program.py`)."""

    hunks: tuple[Hunk, ...] = ()
    whole: str | None = None


@dataclass(slots=True)
class _Open:
    """The hunk that is being read."""

    hints: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    at_end: bool = False


def read_v4a(text: str) -> V4A:
    """The hunks of one or several patches without their Begin and End lines.

    Raises:
        PatchError: it is about another file, or a line is none of the form.
    """
    reader = _Reader()
    for number, line in enumerate(_FILES.sub("", text.removesuffix("\n")).split("\n"), 1):
        reader.take(line, number)
    return reader.finished()


class _Reader:
    def __init__(self) -> None:
        self._files: list[str] = []
        self._hunks: list[Hunk] = []
        self._open = _Open()
        self._added: list[str] | None = None

    def take(self, line: str, number: int) -> None:
        """Read the next line."""
        section = _SECTION.match(line)
        if section:
            self._close()
            self._begin(section[1].lower(), section[2])
        elif line.startswith("***"):
            self._marker(line, number)
        elif _FENCE.match(line) or line.startswith(_NO_NEWLINE):
            return
        elif self._added is not None:
            self._added.append(line[1:] if line.startswith("+") else line)
        elif line.startswith("@@"):
            self._hint(line)
        else:
            self._open.lines.append(_line(line))

    def finished(self) -> V4A:
        """Everything read."""
        self._close()
        if self._added is not None:
            if self._hunks:
                raise _malformed("it both adds the file as a whole and changes lines of it")
            return V4A(whole="\n".join(self._added).strip("\n") + "\n")
        unique = {(hunk.hints, hunk.lines, hunk.at_end): hunk for hunk in reversed(self._hunks)}
        return V4A(tuple(reversed(unique.values())))

    def _begin(self, verb: str, path: str) -> None:
        name = path.strip("`\"'").replace("\\", "/").rsplit("/", 1)[-1]
        self._files.append(name or FILE)
        if len(set(self._files)) > 1 or (verb != "update" and self._files[0] != FILE):
            named = ", ".join(dict.fromkeys(self._files))
            raise PatchError(
                PatchFault.OTHER_FILE,
                f"the patch is about {named}, but a program is one file, {FILE}: "
                f"put every change under one `*** Update File: {FILE}`",
            )
        if verb == "add":
            self._added = []
        elif verb == "delete":
            self._added = self._added or []

    def _marker(self, line: str, number: int) -> None:
        if _LAST.match(line):
            self._open.at_end = True
            self._close()
        elif _MOVE.match(line):
            message = f"the program cannot be moved or renamed; it stays {FILE}"
            raise PatchError(PatchFault.OTHER_FILE, message)
        elif not BEGIN.match(line) and not END.match(line):
            raise _malformed(
                f"line {number}, `{line[:60]}`, is no marker of a patch, and a line of the program "
                "begins with a space, - or +"
            )

    def _hint(self, line: str) -> None:
        if self._open.lines:
            self._close()
        found = _HEAD.match(line)
        hint = found[1].strip() if found else line.strip("@ ")
        if hint:
            self._open.hints.append(hint)

    def _close(self) -> None:
        done, self._open = self._open, _Open()
        lines = _without_layout(done.lines)
        if any(line.kind is not Kind.KEEP for line in lines):
            name = f"hunk {len(self._hunks) + 1}"
            self._hunks.append(Hunk(tuple(lines), name, tuple(done.hints), done.at_end))


def _line(raw: str) -> Line:
    mark, text = raw[:1], raw[1:]
    if mark in ("-", "+"):
        return Line(Kind(mark), text, raw)
    return Line(Kind.KEEP, text if mark == " " else raw, raw)


def _without_layout(lines: list[Line]) -> list[Line]:
    """The lines without those at the ends that are quite empty: they may stand there for looks, so
    they must not decide between two places."""
    filled = [n for n, line in enumerate(lines) if line.raw]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _malformed(what: str) -> PatchError:
    return PatchError(PatchFault.MALFORMED, f"the patch cannot be read: {what}")
