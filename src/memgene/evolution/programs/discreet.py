"""What may be told of failures on val questions: never their words.

A message or a traceback may hold what the program was asked. So the kind of a failure, the name of
a well-known exception and the line of the program are told, nothing that came out of a worker as
text.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence

from memgene.evolution.programs.observed import Broken

_RAISED = "raised"
_FRAME = re.compile(r'^ *File "program\.py", line (\d{1,6})\b', re.MULTILINE)
_KINDS: Mapping[str, str] = {
    "time": "it took too long and was killed",
    "memory": "it asked for more memory than it may have",
    "output": "what it returned is no str, or too long",
    "budget": "it called the toolkit more often than it may",
    "ended": "it ended its process",
    "gone": "its process had ended before",
}
_LIBRARIES = (
    "DatabaseError",
    "HostError",
    "IntegrityError",
    "InterfaceError",
    "InvalidArgumentError",
    "InvalidDimensionException",
    "JSONDecodeError",
    "LinAlgError",
    "NotFoundError",
    "OperationalError",
    "PatternError",
    "ProgramError",
    "ProgrammingError",
    "error",
)
_EXCEPTIONS = frozenset(
    (
        *_LIBRARIES,
        *(
            name
            for name, value in vars(builtins).items()
            if isinstance(value, type) and issubclass(value, BaseException)
        ),
    )
)


def discreet(broken: Sequence[Broken], source: str) -> str:
    """The failures of a program of this source, the most frequent first, as text for whoever has
    to mend them; empty when there are none."""
    counts: dict[str, int] = {}
    for each in broken:
        said = _told(each, source)
        counts[said] = counts.get(said, 0) + each.times
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "\n\n".join(f"{_times(times)}{said}" for said, times in ordered)


def _told(each: Broken, source: str) -> str:
    what = _KINDS.get(each.kind, "it broke the worker's protocol")
    if each.kind == _RAISED:
        name = each.message.partition(":")[0]
        what = f"it raised {name if name in _EXCEPTIONS else 'an exception of its own'}"
    said = f"in {each.where}: {what}"
    lines = source.splitlines()
    number = max(map(int, _FRAME.findall(each.detail)[-1:]), default=0)
    return (
        f"{said}\n  line {number}: {lines[number - 1].strip()}"
        if 0 < number <= len(lines)
        else said
    )


def _times(times: int) -> str:
    return f"{times} times " if times > 1 else ""
