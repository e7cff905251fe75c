"""Ctrl-C once asks, twice stops; outside the main thread nothing is taken."""

from __future__ import annotations

import signal
import threading

import pytest

from memgene.evolution.interrupt import Interruptible


def test_the_first_signal_asks_the_second_stops() -> None:
    former = signal.getsignal(signal.SIGINT)
    with Interruptible() as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is former


def test_a_thread_leaves_signals_alone() -> None:
    former = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with Interruptible() as interrupt:
            seen.append(signal.getsignal(signal.SIGINT))
            interrupt.request()
            seen.append(interrupt.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [former, True]
