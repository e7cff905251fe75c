"""How far a bank is linked, as the bank keeps it under the names `links` and `links.frame`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from memgene.bank.protocol import Bank, Event
from memgene.core import InputError
from memgene.engine.linking.frame import Frame, digest
from memgene.engine.linking.settings import LinkSettings

STATE = "links"
FRAME = "links.frame"
NEVER = -1
LEARNING = (Event.VALUE, Event.FEEDBACK)
"""What happens to units without a word for their edges."""
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class LinkState:
    """`version` is the bank's version up to which all owners are linked, −1 before the first time;
    `last` the version at the last link of anyone. `frame` is the digest of the frame used.
    `checked` says that a model was asked which consecutive units belong together, so that a pair
    without an edge does not."""

    settings: LinkSettings
    frame: str
    threshold: float | None
    version: int = NEVER
    last: int = NEVER
    checked: bool = False

    def to_bytes(self) -> bytes:
        """As the bank keeps it."""
        held = {
            "format": _FORMAT,
            "settings": self.settings.to_dict(),
            "frame": self.frame,
            "threshold": self.threshold,
            "version": self.version,
            "last": self.last,
            "checked": self.checked,
        }
        return json.dumps(held, sort_keys=True).encode()


class FrameReader:
    """Frames from what a bank keeps; the last is remembered, for it serves many links."""

    def __init__(self) -> None:
        self._last: tuple[bytes, str, Frame | None] | None = None

    def __call__(self, content: bytes) -> tuple[str, Frame | None]:
        """The digest and the frame (None: of another format). Raises ValueError for no frame."""
        if self._last is None or self._last[0] != content:
            self._last = content, digest(content), Frame.from_bytes(content)
        return self._last[1:]


def read_state(bank: Bank, frame_of: FrameReader) -> tuple[LinkState, Frame] | None:
    """What the bank keeps; None when it was never linked, or in a way this code does not know:
    then everything is linked anew."""
    content, framed = bank.state(STATE), bank.state(FRAME)
    if content is None or framed is None:
        return None
    try:
        held = json.loads(content)
        if held.pop("format") != _FORMAT:
            return None
        held["settings"] = LinkSettings.from_dict(held["settings"])
        state = LinkState(**held)
        name, frame = frame_of(framed)
    except (ValueError, KeyError, TypeError, AttributeError, InputError):
        return None
    if frame is None or name != state.frame:
        return None
    return state, frame


def is_of(bank: Bank, state: LinkState) -> bool:
    """Whether the state was written in this very bank, right after its version. An imported one
    names versions of the bank it comes from; it replaced nothing here, while `keep` sees to it
    that what it writes does."""
    if not NEVER < state.version < bank.version():
        return False
    rows = bank.events(Event.STATE, after=state.version)
    if not rows or rows[0].seq != state.version + 1:
        return False
    payload = rows[0].payload or {}
    return payload.get("name") == STATE and payload.get("before") is not None


def is_level(bank: Bank, state: LinkState) -> bool:
    """Whether nothing but state was written since all owners were linked."""
    return is_of(bank, state) and not bank.changed_since(state.version, LEARNING)


def keep(bank: Bank, state: LinkState, *, level: int | None, whole: bool) -> bytes:
    """Write the state, as level with the bank's version (None: with the present one), and return
    its bytes. `whole`: all owners are linked up to it."""
    if bank.state(STATE) is None:
        bank.set_state(STATE, b"{}")
    version = bank.version() if level is None else level
    kept = replace(state, last=version, version=version if whole else state.version)
    content = kept.to_bytes()
    bank.set_state(STATE, content)
    return content
