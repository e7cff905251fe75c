"""What patching gives: a new text, or one error that says what to send instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memgene.core import MemgeneError


class Form(StrEnum):
    """How a reply writes its change."""

    V4A = "v4a"
    BLOCKS = "search_replace"
    WHOLE = "whole"


class PatchFault(StrEnum):
    """Why a reply cannot be applied."""

    EMPTY = "empty"  # nothing in it
    TRUNCATED = "truncated"  # it ends before its end
    NO_CHANGE = "no-change"  # it holds no change, or one that changes nothing
    MALFORMED = "malformed"  # a patch against its own rules
    OTHER_FILE = "other-file"  # a program is one file
    NOT_FOUND = "not-found"  # the lines to change are not in the program
    AMBIGUOUS = "ambiguous"  # they are there more than once
    CONFLICT = "conflict"  # two hunks change the same lines


class PatchError(MemgeneError):
    """A reply cannot be applied. Nothing was changed; the message says why and what to send."""

    def __init__(self, fault: PatchFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Patched:
    """The new source, the commit message of the reply (both parts may be empty), and its form."""

    source: str
    title: str
    body: str
    form: Form
