"""The parent's end of a socket to another process: every wait has a deadline."""

from __future__ import annotations

import array
import math
import select
import socket
import struct
import sys
import time
from typing import Any, Final

from memgene.sandbox.wire import HEADER, TooLargeError, decode

_READ: Final = 1 << 15
_LONGEST_WAIT: Final = 3600.0
_CREDENTIALS: Final = struct.Struct("3i")


class DeadlineError(Exception):
    """The deadline passed."""


class ClosedError(Exception):
    """The other side is gone."""


class Channel:
    """Sends and receives frames until a deadline of the monotonic clock. Not thread-safe."""

    def __init__(self, end: socket.socket, limit: int) -> None:
        end.setblocking(False)
        self._socket = end
        self._limit = limit
        self._rest = b""
        self._readable = select.poll()
        self._readable.register(end, select.POLLIN)

    def send(self, frame: bytes, deadline: float) -> None:
        """Send one encoded frame."""
        try:
            sent = self._socket.send(frame)
        except BlockingIOError:
            sent = 0
        except OSError as problem:
            raise ClosedError(str(problem)) from None
        if sent < len(frame):
            self._send_rest(memoryview(frame)[sent:], deadline)

    def send_descriptor(self, frame: bytes, descriptor: int, deadline: float) -> None:
        """Send a short frame together with an open file."""
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        while True:
            try:
                sent = self._socket.sendmsg([frame], passed)
                break
            except BlockingIOError:
                self._await_writable(deadline)
            except OSError as problem:
                raise ClosedError(str(problem)) from None
        if sent < len(frame):
            self._send_rest(memoryview(frame)[sent:], deadline)

    def receive(self, deadline: float) -> Any:
        """The next message. Raises DeadlineError, ClosedError, FrameError, TooLargeError."""
        data = self._rest or self._read(deadline)
        while len(data) < HEADER.size:
            data += self._read(deadline)
        end = HEADER.size + HEADER.unpack_from(data)[0]
        if end > self._limit + HEADER.size:
            raise TooLargeError(end - HEADER.size, self._limit)
        if len(data) < end:
            self._rest = b""
            return decode(self._read_long(data, end, deadline))
        self._rest = data[end:]
        return decode(data[HEADER.size : end])

    def receive_with_sender(self, deadline: float) -> tuple[Any, int | None]:
        """The first message, and the sender's process id as this process sees it, stamped by the
        kernel where it does that (Linux; the socket must ask for it before anything is sent)."""
        data, sender = self._read_stamped(deadline)
        self._rest = data
        return self.receive(deadline), sender

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _read(self, deadline: float) -> bytes:
        while True:
            self._await_readable(deadline)
            try:
                data = self._socket.recv(_READ)
            except BlockingIOError:
                continue
            except OSError as problem:
                raise ClosedError(str(problem)) from None
            if not data:
                raise ClosedError("end of stream")
            return data

    def _read_long(self, start: bytes, end: int, deadline: float) -> memoryview:
        body = bytearray(end)
        body[: len(start)] = start
        view, filled = memoryview(body), len(start)
        while filled < end:
            self._await_readable(deadline)
            try:
                count = self._socket.recv_into(view[filled:])
            except BlockingIOError:
                continue
            except OSError as problem:
                raise ClosedError(str(problem)) from None
            if not count:
                raise ClosedError("end of stream inside a message")
            filled += count
        return view[HEADER.size :]

    def _read_stamped(self, deadline: float) -> tuple[bytes, int | None]:
        self._await_readable(deadline)
        try:
            data, extra, _, _ = self._socket.recvmsg(_READ, socket.CMSG_SPACE(_CREDENTIALS.size))
        except OSError as problem:
            raise ClosedError(str(problem)) from None
        if not data:
            raise ClosedError("end of stream")
        for level, kind, content in extra:
            if sys.platform == "linux" and (level, kind) == (
                socket.SOL_SOCKET,
                socket.SCM_CREDENTIALS,
            ):
                return data, int(_CREDENTIALS.unpack(content)[0])
        return data, None

    def _send_rest(self, view: memoryview, deadline: float) -> None:
        while view:
            self._await_writable(deadline)
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                continue
            except OSError as problem:
                raise ClosedError(str(problem)) from None

    def _await_readable(self, deadline: float) -> None:
        if not self._readable.poll(_milliseconds(deadline)):
            raise DeadlineError

    def _await_writable(self, deadline: float) -> None:
        writable = select.poll()
        writable.register(self._socket, select.POLLOUT)
        if not writable.poll(_milliseconds(deadline)):
            raise DeadlineError


def _milliseconds(deadline: float) -> int:
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeadlineError
    return math.ceil(1000 * min(left, _LONGEST_WAIT))
