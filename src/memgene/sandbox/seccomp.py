"""Seccomp: the kernel checks each system call of a guest against a list (a BPF program).

Source: https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html. A call made under
another processor's numbering (32-bit, x32) kills the process, so that no number can mean another
call than the list says.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Final

from memgene.sandbox import kernel
from memgene.sandbox.syscalls import (
    ABSENT,
    ANY,
    CONDITIONS,
    EVENT_LOOP,
    NUMBERS,
    OWN_PID,
    Where,
)

MACHINES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the number table, and AUDIT_ARCH of linux/audit.h."""

ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
ERRNO: Final = 0x00050000

_SET_MODE_FILTER: Final = 1
_GET_ACTION_AVAILABLE: Final = 2
_X32: Final = 0x40000000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # BPF: LD|W|ABS, ALU|AND|K, RET|K
_EQUAL, _AT_LEAST = 0x15, 0x35  # JMP|JEQ|K, JMP|JGE|K
_INSTRUCTION: Final = struct.Struct("=HBBI")
_CONSTANT: Final = 4  # offset of an instruction's constant

Instruction = tuple[int, int, int, int]


def describe() -> str:
    """`yes`, or `no: why`."""
    if kernel.machine() not in MACHINES:
        return f"no: there is no list of system calls for {kernel.machine()} processors"
    action = ctypes.create_string_buffer(struct.pack("=I", KILL), 4)
    try:
        kernel.call("seccomp", _GET_ACTION_AVAILABLE, 0, action)
    except OSError as problem:
        return f"no: this kernel or container has no seccomp filters ({problem.strerror})"
    return "yes"


class Filter:
    """The allowed calls as a BPF program, to be installed in a worker; with `event_loop` also those
    of `EVENT_LOOP`."""

    def __init__(self, machine: str, *, event_loop: bool = False) -> None:
        column, audit = MACHINES[machine]
        calls = {**NUMBERS, **EVENT_LOOP} if event_loop else NUMBERS
        instructions = _build(calls, column, audit)
        self.program = b"".join(_INSTRUCTION.pack(*x) for x in instructions)
        self._own = [at for at, (*_, k) in enumerate(instructions) if k == OWN_PID]

    def install(self) -> None:
        """Hold this thread and those it makes to the list, for ever. Raises OSError.

        Needs no_new_privs."""
        program = bytearray(self.program)
        for at in self._own:
            struct.pack_into("=I", program, at * _INSTRUCTION.size + _CONSTANT, os.getpid())
        body = ctypes.create_string_buffer(bytes(program), len(program))
        count = len(program) // _INSTRUCTION.size
        header = ctypes.create_string_buffer(
            struct.pack("@HP", count, ctypes.addressof(body)), struct.calcsize("@HP")
        )
        kernel.call("seccomp", _SET_MODE_FILTER, 0, header)


def _build(
    calls: Mapping[str, tuple[int | None, int | None]], column: int, audit: int
) -> list[Instruction]:
    program: list[Instruction] = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if audit == MACHINES["x86_64"][1]:
        program += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, KILL)]
    for name, numbers in calls.items():
        number = numbers[column]
        if number is not None:
            program += _block(number, _decision(name))
    program.append((_RETURN, 0, 0, ERRNO | errno.EPERM))
    return program


def _block(number: int, decision: Sequence[Instruction]) -> list[Instruction]:
    """Take the decision if the call has this number, else go on behind it."""
    return [(_EQUAL, 0, len(decision), number), *decision]


def _decision(name: str) -> list[Instruction]:
    if name in ABSENT:
        return [(_RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    alternatives = CONDITIONS.get(name, ANY)
    if alternatives == ANY:
        return [(_RETURN, 0, 0, ALLOW)]
    program: list[Instruction] = []
    for conditions in alternatives:
        program += _alternative(conditions)
    return [*program, (_RETURN, 0, 0, ERRNO | errno.EPERM)]


def _alternative(conditions: Sequence[Where]) -> list[Instruction]:
    """Allow if all conditions hold, else go on behind."""
    program: list[Instruction] = [(_RETURN, 0, 0, ALLOW)]
    for where in reversed(conditions):
        test: list[Instruction] = [
            (_LOAD, 0, 0, _ARGUMENTS + 8 * where.argument),
            (_AND, 0, 0, where.mask),
            (_EQUAL, 0, len(program), where.value),
        ]
        program = test + program
    return program
