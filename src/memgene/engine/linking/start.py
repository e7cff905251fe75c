"""What a link begins with: settings, frame, and whether what was known still counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memgene.bank.protocol import Bank, EmbedderInfo, RelationKind
from memgene.bank.unit import UnitStatus
from memgene.core import EmbedderMismatchError
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine.linking.frame import Frame, calibrate, digest, units_for_frame
from memgene.engine.linking.keywords import keywords
from memgene.engine.linking.settings import LinkSettings
from memgene.engine.linking.state import FrameReader, LinkState, read_state


@dataclass(frozen=True, slots=True)
class Start:
    """`version` is the bank's at the start. `state` is the one to go on from, `before` the one the
    bank had, None when there is none or it does not count.

    `anew`: the frame is a new one, so every edge may change. `asks`: pairs that were linked without
    a check are to be checked now.
    """

    version: int
    state: LinkState
    frame: Frame
    before: LinkState | None
    anew: bool
    asks: bool

    @property
    def all_owners(self) -> bool:
        """Whether those have to be linked again that were linked before, whoever is meant."""
        return self.before is not None and (self.anew or self.asks)


def begin(
    bank: Bank,
    embedder: Embedder | None,
    settings: LinkSettings | None,
    frame_of: FrameReader,
    *,
    checks: bool,
    rebuild: bool,
) -> Start:
    """Read the bank's state; calibrate where that has to be done.

    That is: never linked, other settings, another embedder, twice as many units as it was done
    from (up to `calibration_units`), or a rebuild.

    Raises:
        EmbedderMismatchError: the bank's vectors are another embedder's.
    """
    version, kept = bank.version(), read_state(bank, frame_of)
    before = kept[0] if kept else None
    chosen = settings or (before.settings if before else LinkSettings())
    info = _info(bank, embedder)
    frame = None if kept is None or rebuild else _still_good(bank, *kept, chosen, info)
    anew = frame is None
    frame = frame or _calibrated(bank, embedder, info, chosen)
    timed = RelationKind.TIME in chosen.kinds
    was_checked = before is not None and before.checked and timed and not rebuild
    checked = was_checked or (checks and timed)
    if anew or before is None:
        state = LinkState(chosen, digest(frame.to_bytes()), frame.threshold, checked=checked)
    else:
        state = replace(before, checked=checked)
    asks = checked and not was_checked
    return Start(version, state, frame, before, anew=anew, asks=asks)


def _still_good(
    bank: Bank,
    before: LinkState,
    frame: Frame,
    settings: LinkSettings,
    info: EmbedderInfo | None,
) -> Frame | None:
    """The frame, None where it does not serve any more."""
    if before.settings != settings or frame.embedder != info:
        return None
    if frame.units < settings.calibration_units:
        outgrown = units_for_frame(_living(bank), settings) > frame.units
        return None if outgrown else frame
    return frame


def _info(bank: Bank, embedder: Embedder | None) -> EmbedderInfo | None:
    """Whose vectors there are to link by, None if there are none or nobody to understand them."""
    stored = bank.embedder()
    if stored is None or embedder is None:
        return None
    if (stored.name, stored.dimension) != (embedder.name, embedder.dimension):
        raise EmbedderMismatchError(
            f"the vectors in {bank.location} were made by {stored.name} ({stored.dimension} "
            f"numbers each), this memory links by {embedder.name} ({embedder.dimension}); open it "
            f"with {stored.name}, or run `memgene reembed`"
        )
    return stored


def _living(bank: Bank) -> int:
    return bank.stats().by_status[UnitStatus.ACTIVE]


def _calibrated(
    bank: Bank, embedder: Embedder | None, info: EmbedderInfo | None, settings: LinkSettings
) -> Frame:
    units = bank.page(None, limit=units_for_frame(_living(bank), settings))
    vectors = None if info is None else bank.vectors([unit.id for unit in units])[1]
    words = [keywords(unit) for unit in units]
    static = isinstance(embedder, WordVectors)  # means of word vectors gain from centring
    return calibrate(words, vectors, info, settings, centred=static)
