"""`toolkit.bank`: memgene's own engine over an in-memory bank, inside the worker (architecture §7).

What it finds is what a bank harness with the same configuration finds over the same units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from memgene.bank import open_bank
from memgene.bank.sqlite.codec import refusal
from memgene.bank.unit import MemoryUnit
from memgene.core import ConfigError, FixedClock, Hit, InputError, content_hash
from memgene.embed.protocol import Vectors
from memgene.engine import MemoryEngine, compose_hits
from memgene.engine.models import EngineModels
from memgene.programs.guest.configuring import received, sent
from memgene.programs.guest.episode_text import read_time, turns_of
from memgene.programs.guest.models import Ask, models_of
from memgene.programs.guest.stages import LoadedStages
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.features.registry import features
from memgene.retrieval.needs import needs_llm
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.router import Router
from memgene.retrieval.text import STOP_WORDS, words

Time = datetime | date | str
_STORED = datetime(2025, 1, 1, tzinfo=UTC)  # a bank keeps when units were stored; no search looks


@dataclass(frozen=True, slots=True)
class BankHit:
    """One unit found: `text` as added, `rendered` as an agent reads it (`[date] speaker: text`)."""

    id: str
    text: str
    rendered: str
    score: float
    source: str | None = None
    speaker: str | None = None
    time: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class BankTool:
    """Texts to remember, found again by lexical, semantic and temporal search together.

    ```python
    self.bank = toolkit.bank
    self.bank.add_episode(raw_text)                     # one unit a turn
    self.bank.add("Ana moved to Porto.", time="8 May 2023", metadata={"kind": "fact"})
    self.bank.context(query.text, characters=3000)      # the best lines, ready to be returned
    for hit in self.bank.search(query.text, limit=20): hit.rendered, hit.score, hit.metadata
    ```
    What is added is stored and embedded at the next search, all of it at once.

    Args:
        first: the worker's first message: `config`, `router` and `stages` (see `configuring`),
            `embedder` and `words` (see `models.described`).
        embed: texts to vectors, one host call.
        words: single words to vectors, one host call.

    Raises ConfigError for a configuration that `check_bank_config` refuses.
    """

    def __init__(self, first: Mapping[str, Any], embed: Ask, words: Ask) -> None:
        config = received(first)
        check_bank_config(config)
        embedder, self._words = models_of(first, embed, words)
        bank = open_bank(":memory:", FixedClock(_STORED))
        # this process is a sandbox already: stages run in it
        models = EngineModels(stages=LoadedStages() if config.stages else None)
        self._engine = MemoryEngine(bank, embedder, config, self._words, models)
        self._soft = _matches_softly(config)
        self._waiting: list[MemoryUnit] = []
        self._ids: set[str] = set()
        self._turns: dict[str, int] = {}  # by source: how many turns it has
        self._placed: dict[str, int] = {}  # by what was added to a source: its (first) turn
        self._searched = False
        self._hits: dict[str, Hit] = {}  # by id: what the searches of one read found

    def add(
        self,
        text: str,
        *,
        source: str | None = None,
        speaker: str | None = None,
        time: Time | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Remember one text; its id, which is the same when the same is added again.

        `source` names what it belongs to: units of one source are neighbours in the order they
        were added. `time` is when it happened: a datetime, a date, or a text with a full date
        (ISO, `8 May 2023, 1:56 pm`; without a full date in it the unit has no time). `metadata`
        holds JSON values. Raises InputError (a ValueError) for what cannot be stored.
        """
        moment = read_time(time)
        turn = None
        if source is not None:
            turn = self._turn(source, repr((text, speaker, moment)), 1)
        return self._add(
            MemoryUnit(
                content=text,
                speaker=speaker,
                source=source,
                turn_start=turn,
                turn_end=turn,
                event_time=moment,
                metadata=dict(metadata or {}),
            )
        )

    def add_episode(
        self, raw_text: str, *, time: Time | None = None, source: str | None = None
    ) -> list[str]:
        """Remember the turns of an episode's text, one unit a line `speaker: words`; their ids.

        The date line at the head (`[8 May 2023, 1:56 pm]`) is the time of all of them, unless
        `time` is given. A line without a speaker goes on with the turn before it, or is a turn
        where no line has one. `source` defaults to a hash of the text.
        """
        if not isinstance(raw_text, str):
            raise InputError(f"add_episode takes the text of an episode, got {raw_text!r:.80}")
        told, turns = turns_of(raw_text)
        moment = read_time(time) or told
        digest = content_hash(raw_text)
        source = digest[:12] if source is None else source
        start = self._turn(source, digest, turns[-1].place + 1 if turns else 0)
        return [
            self._add(
                MemoryUnit(
                    content=turn.words,
                    speaker=turn.speaker,
                    source=source,
                    turn_start=start + turn.place,
                    turn_end=start + turn.place,
                    event_time=moment,
                )
            )
            for turn in turns
        ]

    def search(self, query: str, limit: int = 10) -> list[BankHit]:
        """The `limit` best units for a question or a few words, best first."""
        return [
            BankHit(
                id=hit.id,
                text=hit.text,
                rendered=hit.rendered,
                score=hit.score,
                source=hit.source,
                speaker=hit.speaker,
                time=hit.event_time,
                metadata=dict(hit.metadata),
            )
            for hit in self._found(query, limit)[0]
        ]

    def context(self, query: str, limit: int | None = None, characters: int = 3000) -> str:
        """The best units as lines `[date] speaker: text`, best first; "" where nothing is found.

        At most `limit` lines (default: what the configuration gives an agent) and `characters`
        characters, never more than the configuration's own limit.
        """
        if characters < 1:
            raise InputError(f"characters must be at least 1, got {characters}")
        hits, served = self._found(query, limit)
        return compose_hits(hits, min(characters, served.context_chars))[0]

    def drained(self) -> list[Hit] | None:
        """What the searches found since the last call of this, in order; None without any."""
        searched, self._searched = self._searched, False
        found, self._hits = list(self._hits.values()), {}
        return found if searched else None

    def count(self) -> int:
        """How many different units were added."""
        return len(self._ids)

    def close(self) -> None:
        """Forget everything."""
        self._engine.bank.close()

    def _add(self, unit: MemoryUnit) -> str:
        reason = refusal(unit)
        if reason is not None:
            raise InputError(f"toolkit.bank cannot store this: {reason}")
        identity = unit.identity()
        self._waiting.append(unit)
        self._ids.add(identity)
        return identity

    def _turn(self, source: str, what: str, count: int) -> int:
        """The first of `count` turns of a source; the same ones when the same comes again."""
        if not isinstance(source, str):
            raise InputError(f"source must be a str, got {source!r}")
        key = f"{source}\0{what}"
        if key not in self._placed:
            self._placed[key] = self._turns.get(source, 0)
            self._turns[source] = self._placed[key] + count
        return self._placed[key]

    def _found(self, query: str, limit: int | None) -> tuple[Sequence[Hit], RetrievalConfig]:
        """Hits, at most `limit` (default: `context_k`), and the configuration that served."""
        if not isinstance(query, str):
            raise InputError(f"a query is a text, got {query!r}")
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise InputError(f"limit must be an int of at least 1, got {limit!r}")
        self._store()
        if self._words is not None and self._soft:
            # the engine would ask for them one by one
            self._words.words([word for word in words(query) if word not in STOP_WORDS])
        found = self._engine.retrieve(query, limit=limit, explained=0, pooled=False)
        for hit in found.hits:
            self._hits.setdefault(hit.id, hit)
        self._searched = True
        return found.hits[: found.config.context_k if limit is None else limit], found.config

    def _store(self) -> None:
        """Everything that waits, in one transaction and with one batch of vectors."""
        if self._waiting:
            self._engine.write(self._waiting)
            self._waiting = []


def check_bank_config(config: RetrievalConfig) -> None:
    """Raises ConfigError where a configuration asks a language model to extract, plan or rerank.

    A worker has none for its bank (a program's own calls are counted), and to read without what
    was asked for would be another configuration under the same name.
    """
    needed = needs_llm(config)
    on = [name for part in ("extract", "rewrite") for name in needed.get(part, ())]
    if on:
        raise ConfigError(
            f"toolkit.bank has no language model, and its configuration asks for one: switch off "
            f"{', '.join(on)}"
        )


def _matches_softly(config: RetrievalConfig) -> bool:
    """Whether some question is compared by word vectors: in a view, or for the learned fusion."""
    served = [{"soft_k": config.soft_k, "fusion": config.fusion}, *config.per_type.values()]
    return any(some.get("soft_k") or some.get("fusion") == "learned" for some in served)


def prepare_bank() -> None:
    """Use every part of a bank once, so that nothing is left to import once files are shut off."""

    def ones(texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 2), np.float32)

    features()
    views = ("lexical", "dense")
    config = RetrievalConfig(soft_k=20, router=Router.fresh(views, features_of(views)))
    first = {
        **sent(config),
        "embedder": {"name": "ones", "dimension": 2, "static": True},
        "words": {"dimension": 2},
    }
    tool = BankTool(first, ones, ones)
    tool.add_episode("[8 May 2023]\nAna: We moved to Porto last week.")
    tool.add("a fact", metadata={"n": 1})
    tool.context("Where did Ana move in May 2023?")
    tool.close()
