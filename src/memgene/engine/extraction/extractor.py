"""Facts from an episode, window by window, with guards (EvolveMem §2).

Nothing a model does may lose or invent a memory: what it says is checked against the turns it was
shown, what it leaves out is asked for again, and what is still missing is kept as it was said.
An extraction depends on the episode, the settings and the model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memgene.bank.unit import MemoryUnit
from memgene.core import Episode, Scope, content_hash
from memgene.engine.extraction.asking import Asker, tail
from memgene.engine.extraction.coverage import Gap, gaps
from memgene.engine.extraction.facts import Fact, unit_of
from memgene.engine.extraction.report import ExtractionReport, Tally
from memgene.engine.extraction.settings import ExtractionSettings
from memgene.engine.extraction.support import Source
from memgene.engine.extraction.turns import Turn, slices, turns_of
from memgene.engine.writing import units_from_episode
from memgene.llm.prompts.extraction import COVERAGE, EXTRACTION, EXTRACTION_AGAIN
from memgene.llm.protocol import LLM

BY, FROM, PART = "extracted_by", "extracted_from", "extracted_in_part"
"""Metadata of extracted units: which extractor, and the digest of what it read. FROM: the model
answered to all of it, so that it is not extracted again; PART: it did not."""

_GAPS_ASKED = 16


@dataclass(frozen=True, slots=True)
class Extraction:
    """Units of an episode, facts first, and how they came about. `complete`: the model answered
    to all of it, so that extracting once more would give nothing new."""

    units: tuple[MemoryUnit, ...]
    report: ExtractionReport
    complete: bool


class Extractor:
    """Extracts facts with one model and one set of settings. Thread-safe if the model is."""

    def __init__(self, llm: LLM, settings: ExtractionSettings | None = None) -> None:
        self.llm = llm
        self.settings = settings or ExtractionSettings()

    @property
    def key(self) -> str:
        """Names everything that decides what is extracted: model, settings, prompts."""
        prompts = (EXTRACTION.digest, EXTRACTION_AGAIN.digest, COVERAGE.digest)
        return content_hash("\x1f".join((self.llm.identity, self.settings.digest, *prompts)))[:12]

    def extract(self, episode: Episode, scope: Scope | None = None) -> Extraction:
        """Facts of an episode, and the turns that had to be kept as they were said."""
        work = _Work(self, episode, turns_of(episode, self.settings.guards.captions))
        for window in slices(work.turns, self.settings.window):
            work.window(window)
            if self.settings.focus:
                work.about(window, self.settings.focus)
        return work.finish(scope or Scope())

    def targeted(
        self, episode: Episode, missing: Sequence[str], scope: Scope | None = None
    ) -> Extraction:
        """Facts about what is said to be missing, if the episode tells them; nothing else."""
        work = _Work(self, episode, turns_of(episode, self.settings.guards.captions))
        for window in slices(work.turns, self.settings.window):
            work.tally.add("windows")
            work.about(window, missing)
        return work.finish(scope or Scope(), facts_only=True)


def episode_digest(episode: Episode) -> str:
    """Short name of what an episode says, by whom and when."""
    said = (
        f"{m.id}\x1f{m.speaker}\x1f{m.time or episode.time}\x1f{m.content}"
        for m in episode.messages
    )
    return content_hash("\x1e".join(said))[:12]


@dataclass(slots=True)
class _Work:
    """One extraction under way."""

    extractor: Extractor
    episode: Episode
    turns: list[Turn]
    tally: Tally = field(default_factory=Tally)
    facts: list[tuple[Fact, Source]] = field(default_factory=list)
    failed: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    silent: bool = False
    asker: Asker = field(init=False)

    def __post_init__(self) -> None:
        self.asker = Asker(self.extractor.llm, self.extractor.settings, self.tally)

    def window(self, window: tuple[Turn, ...]) -> None:
        """Extract one window."""
        self.tally.add("windows")
        known = tail([fact.statement for fact, _ in self.facts], self.extractor.settings.tail)
        source = Source.of(window, known)
        answered = self.asker.facts(window, source, known)
        self._take(answered.facts, source)
        failed, silent = answered.failed, answered.silent
        if failed and self.extractor.settings.guards.chunks:
            failed, silent = self._in_pieces(failed, silent, source)
        self.silent |= silent
        self._cover([turn for turn in window if turn not in failed], source)
        self._fall_back(failed)

    def _in_pieces(
        self, turns: tuple[Turn, ...], silent: bool, source: Source
    ) -> tuple[tuple[Turn, ...], bool]:
        """Ask for failed turns in smaller pieces; returns those that failed again.

        After a call without reply (it may have been too long for the model) one smaller piece is
        tried; when that gets none either, the model is away, and the others are not asked for.
        """
        pieces = list(slices(turns, self.extractor.settings.chunk))
        if len(pieces) < 2:
            return turns, silent
        self.tally.add("chunked")
        failed: tuple[Turn, ...] = ()
        away = False
        for piece in pieces:
            if away:
                failed += piece
                continue
            known = tail([fact.statement for fact, _ in self.facts], self.extractor.settings.tail)
            answered = self.asker.facts(piece, source, known)
            self._take(answered.facts, source)
            failed += answered.failed
            away = answered.silent
        return failed, away

    def about(self, window: tuple[Turn, ...], missing: Sequence[str]) -> None:
        """Ask one window for what is said to be missing."""
        self.tally.add("coverage_passes")
        source = Source.of(window)
        found = self.asker.missing(window, source, missing)
        self._take(found, source)

    def finish(self, scope: Scope, facts_only: bool = False) -> Extraction:
        """Units and the report."""
        standing = {turn.place for fact, _ in self.facts for turn in fact.turns} | self.kept
        left = gaps(self.turns, [fact for fact, _ in self.facts])
        bare = {gap.turn.place for gap in left} | self.failed
        lost = [t for t in self.turns if t.place in bare - standing and t.substantial]
        complete = not self.silent
        notes = {
            BY: self.extractor.key,
            "extraction_model": self.extractor.llm.name,
            "extraction_prompt": EXTRACTION.digest,
        }
        if not facts_only:
            notes[FROM if complete else PART] = episode_digest(self.episode)
        units = [unit_of(f, self.episode, scope, source, notes) for f, source in self.facts]
        units += [
            _noted(unit, notes)
            for unit in units_from_episode(self.episode, scope)
            if unit.turn_start in self.kept
        ]
        for name, count in (
            ("episodes", 1),
            ("turns", len(self.turns)),
            ("facts", len(self.facts)),
            ("kept", len(self.kept)),
            ("lost", 0 if facts_only else len(lost)),
        ):
            self.tally.add(name, count)
        return Extraction(tuple(units), self.tally.report(), complete)

    def _take(self, found: Sequence[Fact], source: Source) -> None:
        """Keep facts that are not there yet, word for word."""
        seen = {fact.key for fact, _ in self.facts}
        for fact in found:
            if fact.key in seen:
                self.tally.add("repeated")
            else:
                seen.add(fact.key)
                self.facts.append((fact, source))

    def _cover(self, window: Sequence[Turn], source: Source) -> None:
        """Ask for the names, numbers and dates of a window that no fact mentions."""
        guards = self.extractor.settings.guards
        if not guards.coverage or not window:
            return
        open_gaps = gaps(window, [fact for fact, _ in self.facts])
        self.tally.add("gaps", len(open_gaps))
        if not open_gaps:
            return
        asked = open_gaps[:_GAPS_ASKED]
        self.tally.add("coverage_passes")
        about = _around(window, asked)
        number = {turn.place: n for n, turn in enumerate(about, 1)}
        missing = [f"{gap.text} (turn {number[gap.turn.place]})" for gap in asked]
        found = self.asker.missing(about, source, missing)
        # Only what closes a gap is taken: the rest repeats the first pass in other words.
        closing = [fact for fact in found if _closes(fact, open_gaps)]
        self._take(closing, source)
        left = gaps(window, [fact for fact, _ in self.facts])
        self.tally.add("gaps_closed", len(open_gaps) - len(left))
        if guards.fallback:
            self.kept |= {gap.turn.place for gap in left}

    def _fall_back(self, failed: Sequence[Turn]) -> None:
        self.failed |= {turn.place for turn in failed if turn.substantial}
        if self.extractor.settings.guards.fallback:
            self.kept |= {turn.place for turn in failed}


def _around(window: Sequence[Turn], asked: Sequence[Gap]) -> tuple[Turn, ...]:
    """The turns that hold the gaps, each with the one before it."""
    holding = {gap.turn.place for gap in asked}
    places = [turn.place for turn in window]
    wanted = {
        places[at]
        for i, place in enumerate(places)
        if place in holding
        for at in (max(i - 1, 0), i)
    }
    return tuple(turn for turn in window if turn.place in wanted)


def _closes(fact: Fact, open_gaps: Sequence[Gap]) -> bool:
    turns = list(dict.fromkeys(gap.turn for gap in open_gaps))
    before = {(gap.kind, gap.text) for gap in gaps(turns, ())}
    after = {(gap.kind, gap.text) for gap in gaps(turns, (fact,))}
    wanted = {(gap.kind, gap.text) for gap in open_gaps}
    return bool((before - after) & wanted)


def _noted(unit: MemoryUnit, notes: dict[str, str]) -> MemoryUnit:
    return replace(unit, metadata={**unit.metadata, **notes})
