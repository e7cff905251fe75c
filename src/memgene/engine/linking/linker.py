"""Linking a bank: read or follow its units, write the edges that differ."""

from __future__ import annotations

import threading
from collections import OrderedDict

from memgene.bank.protocol import Bank, RelationKind
from memgene.core import Scope
from memgene.embed.protocol import Embedder
from memgene.engine.linking.check import TimeCheck
from memgene.engine.linking.progress import Meter, Progress
from memgene.engine.linking.report import LinkReport
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.start import Start, begin
from memgene.engine.linking.state import LEARNING, STATE, FrameReader, is_level
from memgene.engine.linking.verdicts import Verdicts, known_of, verdicts
from memgene.engine.linking.view import Followed, View
from memgene.engine.linking.writing import Edges, by_ends, write

_VIEWS_KEPT = 64
_PATIENCE = 1.0  # seconds


class Linker:
    """Keeps the edges of a bank as its units ask for. Thread-safe; it does not own the bank.

    The units last linked stay in memory, so that the next link looks only at what changed. What
    another process linked, and what was rolled back or undone, shows in the bank's state; then all
    is read anew.
    """

    def __init__(self, bank: Bank, embedder: Embedder | None) -> None:
        self._bank = bank
        self._embedder = embedder
        self._lock = threading.RLock()
        self._token: bytes | None = None
        self._frame_of = FrameReader()
        self._views: OrderedDict[Scope | None, View] = OrderedDict()

    def link(
        self,
        scope: Scope | None,
        settings: LinkSettings | None,
        check: TimeCheck | None,
        progress: Progress | None,
        *,
        rebuild: bool,
    ) -> LinkReport:
        """See `MemoryEngine.link`."""
        if not self._lock.acquire(timeout=_PATIENCE):
            # the thread that links may be waiting for a transaction of this one to end
            other = Linker(self._bank, self._embedder)
            return other.link(scope, settings, check, progress, rebuild=rebuild)
        try:
            checks = check is not None
            start = begin(
                self._bank,
                self._embedder,
                settings,
                self._frame_of,
                checks=checks,
                rebuild=rebuild,
            )
            return self._link(start, scope, check, Meter(progress))
        except BaseException:
            self._forget()  # what is in memory may be ahead of the bank
            raise
        finally:
            self._lock.release()

    def _link(
        self, start: Start, scope: Scope | None, check: TimeCheck | None, meter: Meter
    ) -> LinkReport:
        bank = self._bank
        if start.anew or start.asks or self._token != bank.state(STATE):
            self._forget()
        whole = scope is None or start.all_owners
        reader = None if whole or scope is None else Scope(scope.user_id, scope.agent_id)
        view = self._views.get(None) or self._views.get(reader)
        read = view is None
        if view is None:
            if whole and not (start.anew or start.asks) and is_level(bank, start.state):
                return LinkReport(threshold=start.frame.threshold)
            view = View(reader, start.frame, start.state.settings)
            followed = view.read(bank, meter)
        else:
            changed = bank.changed_since(view.version, LEARNING)
            if not changed:
                return LinkReport(threshold=start.frame.threshold)
            followed = view.follow(bank, changed, meter)
        there = by_ends(bank.relations(followed.ids))
        found = self._verdicts(start, followed, there, check, meter, read=read)
        view.refuse(followed, found.refused)
        written = write(bank, start, there, view.edges(followed), whole=view.reader is None)
        self._token, view.version = written.token, written.version
        self._keep(view)
        return LinkReport(
            written.added,
            written.removed,
            followed.units,
            found.checks,
            start.frame.threshold,
            start.anew,
            found.degraded,
        )

    def _verdicts(
        self,
        start: Start,
        followed: Followed,
        there: Edges,
        check: TimeCheck | None,
        meter: Meter,
        *,
        read: bool,
    ) -> Verdicts:
        """Which of the pairs that are consecutive only now do not belong together. To units that
        were just read all pairs are new; what was found before shows in their edges."""
        known = None
        if read and start.before is not None and start.state.checked and not start.asks:
            known = known_of(self._bank, start.before, followed.active)
        linked = {(a, b) for kind, a, b in there if kind is RelationKind.TIME}
        return verdicts(self._bank, followed.pairs, linked, known, check, meter.told)

    def _keep(self, view: View) -> None:
        """For the next link; a view of everyone's units makes others needless."""
        if view.reader is None:
            self._views.clear()
        self._views.pop(view.reader, None)
        if view.worn:  # read anew next time
            return
        self._views[view.reader] = view
        if len(self._views) > _VIEWS_KEPT:
            self._views.popitem(last=False)

    def _forget(self) -> None:
        self._views.clear()
        self._token = None
