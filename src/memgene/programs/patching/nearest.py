"""What in a program comes nearest to lines that are not in it, shown so that a patch can be mended
from the message alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff

_CANDIDATES = 8
_ALIKE = 0.4  # below it two texts have little to do with each other
_COMPARED = 2000  # characters; longer texts take long, and are told apart by fewer
_SHOWN = 60  # lines of a comparison


def nearest(source: Sequence[str], wanted: Sequence[str]) -> str:
    """A comparison with the most similar stretch of the program, or what to do if there is none.

    Lines marked `-` are the patch's, lines marked `+` the program's own.
    """
    start = _best(source, wanted)
    if start is None:
        return "Nothing in it is similar: copy the lines to be changed from the program."
    window = list(source[start : start + len(wanted)])
    compared = list(unified_diff(list(wanted), window, lineterm="", n=len(window)))[3:]
    if len(compared) > _SHOWN:
        compared = [*compared[:_SHOWN], f"({len(compared) - _SHOWN} more lines)"]
    return "\n".join(
        [
            f"Nearest are lines {start + 1}-{start + len(window)} "
            "(- as your patch has it, + as it stands in the program):",
            *compared,
        ]
    )


def _best(source: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the window as long as `wanted` starts that is most similar; None where none is."""
    there, asked = [line.strip() for line in source], [line.strip() for line in wanted]
    size = min(len(asked), len(there))
    text = "\n".join(asked)[:_COMPARED]
    best: tuple[float, int] | None = None
    for start in _likely(there, asked, size) if size else ():
        window = "\n".join(there[start : start + size])[:_COMPARED]
        ratio = SequenceMatcher(None, text, window, autojunk=False).ratio()
        if ratio >= _ALIKE and (best is None or ratio > best[0]):
            best = (ratio, start)
    return None if best is None else best[1]


def _likely(there: list[str], asked: list[str], size: int) -> list[int]:
    """Starts of the windows that share most words with the lines asked for, rare words counting
    more."""
    words = [set(_words(line)) for line in there]
    lines_with = Counter(word for line in words for word in line)
    weights = {word: 1 / (1 + lines_with[word]) for line in asked for word in _words(line)}
    worth = [sum(weights.get(word, 0.0) for word in sorted(line)) for line in words]
    shared = [sum(worth[start : start + size]) for start in range(len(there) - size + 1)]
    return sorted(range(len(shared)), key=lambda start: (-shared[start], start))[:_CANDIDATES]


def _words(line: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in line).split()
