"""A piece of program text that fills one slot, and how pieces are put together."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent


@dataclass(frozen=True, slots=True)
class Part:
    """Lines for each place of a program: modules it imports, constants of the class, lines of
    `__init__`, `write` and `read`, and whole methods (indented by four)."""

    imports: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    init: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def __add__(self, other: Part) -> Part:
        """Both, in order; imports, constants and methods that are there already stand once."""
        return Part(
            _once(self.imports + other.imports),
            _once(self.constants + other.constants),
            self.init + other.init,
            self.write + other.write,
            self.read + other.read,
            _once(self.methods + other.methods),
        )


def _once(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def method(text: str) -> str:
    """A method as it stands in the class, from a block of text."""
    return indent(dedent(text).strip("\n"), "    ")
