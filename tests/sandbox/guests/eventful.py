"""A guest that uses what an event loop needs, and tries to get more out of it."""

import os
import select
import socket


def prepare():
    """All that is needed is imported above."""


def begin(first, host):
    return None, {"loop": loop, "sockets": sockets, "escapes": escapes}


def loop(params):
    """Wait for a pipe-like descriptor through epoll: what was counted."""
    event = os.eventfd(0)
    with select.epoll() as waiting:
        waiting.register(event, select.EPOLLIN)
        os.eventfd_write(event, 7)
        ready = waiting.poll(5)
    return [[number == event for number, _ in ready], os.eventfd_read(event)]


def sockets(params):
    """Send through a pair of sockets."""
    one, other = socket.socketpair()
    os.write(one.fileno(), b"through")
    return os.read(other.fileno(), 16).decode()


def escapes(params):
    """What a pair of sockets could be misused for."""
    one, other = socket.socketpair()
    return {
        "inet": outcome(socket.socketpair, socket.AF_INET),
        "datagrams": outcome(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM),
        "socket": outcome(socket.socket, socket.AF_UNIX),
        "connect": outcome(one.connect, "/run/x"),
        "bind": outcome(one.bind, "\0x"),
        "listen": outcome(one.listen),
        "pass": outcome(socket.send_fds, one, [b"x"], [0]),
        "receive": outcome(socket.recv_fds, other, 1, 1),
    }


def outcome(action, *arguments):
    try:
        action(*arguments)
    except OSError as problem:
        return type(problem).__name__
    return "ok"
