"""One call, its retries, and the facts of the reply that stand up to the turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.core import ModelError, ReplyError
from memgene.engine.extraction.attribution import Attributor
from memgene.engine.extraction.facts import Fact, fact_of
from memgene.engine.extraction.items import (
    Item,
    Reading,
    State,
    most_items,
    most_tokens,
    read_reply,
    schema,
)
from memgene.engine.extraction.report import Tally
from memgene.engine.extraction.settings import ExtractionSettings
from memgene.engine.extraction.support import Source, is_talk
from memgene.engine.extraction.turns import Turn, shown
from memgene.llm.prompts.extraction import COVERAGE, EXTRACTION, EXTRACTION_AGAIN, KNOWN
from memgene.llm.protocol import LLM, ChatMessage, Finish, Reply, Request

_REPLY_SHOWN = 400
_WARM = 0.5
_FEW = 3
_THIN = 1 / 3


@dataclass(frozen=True, slots=True)
class Checked:
    """Facts of one reply that passed the checks, and what to tell the model if it must repeat.
    `silent`: there was no reply at all."""

    facts: tuple[Fact, ...]
    state: State
    problem: str = ""
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """Facts of some turns, and the turns that gave none because no reply could be used (`silent`:
    because there was no reply)."""

    facts: tuple[Fact, ...]
    failed: tuple[Turn, ...] = ()
    silent: bool = False


class Asker:
    """Asks a model about turns and checks what it says."""

    def __init__(self, llm: LLM, settings: ExtractionSettings, tally: Tally) -> None:
        self._llm = llm
        self._settings = settings
        self._guards = settings.guards
        self._tally = tally

    def facts(self, turns: Sequence[Turn], source: Source, known: Sequence[str]) -> Answered:
        """Facts of some turns; `known` are facts of the turns before them."""
        found: list[Fact] = []
        rest = tuple(turns)
        while any(turn.substantial for turn in rest):
            before = tail((*known, *(f.statement for f in found)), self._settings.tail)
            messages = EXTRACTION.render(known=_noted(before), turns=shown(rest))
            checked = self._checked(messages, rest, source)
            found += checked.facts
            if checked.state is State.WHOLE:
                break
            # cut: what comes after the last turn a complete fact tells of is asked for again
            last = max((t.place for f in checked.facts for t in f.turns), default=-1)
            after = tuple(turn for turn in rest if turn.place > last)
            if checked.state is State.UNUSABLE or len(after) == len(rest):
                return Answered(tuple(found), rest, checked.silent)
            rest = after
        return Answered(tuple(found))

    def missing(self, turns: Sequence[Turn], source: Source, missing: Sequence[str]) -> list[Fact]:
        """Facts about what is missing, as far as one reply tells them."""
        messages = COVERAGE.render(
            turns=shown(turns), missing="\n".join(f"- {text}" for text in missing)
        )
        return list(self._checked(messages, turns, source).facts)

    def _checked(
        self, messages: tuple[ChatMessage, ...], turns: Sequence[Turn], source: Source
    ) -> Checked:
        """The reply to some messages, asked for once more when it cannot be used."""
        expects = any(turn.substantial for turn in turns)
        checked = Checked((), State.UNUSABLE)
        for attempt in range(2 if self._guards.retry else 1):
            if attempt:
                self._tally.add("retries")
            reply = self._complete(messages, turns, seed=attempt)
            if reply is None:
                return Checked((), State.UNUSABLE, silent=True)
            checked = self._check(read_reply(reply, self._guards.repair), turns, source)
            usable = checked.facts and checked.state is not State.UNUSABLE
            if usable or (checked.state is State.WHOLE and not expects):
                return checked
            if self._guards.feedback:
                messages = _told(messages, reply, checked.problem or "it holds no facts")
        return Checked(checked.facts, State.UNUSABLE, checked.problem)

    def _complete(
        self, messages: tuple[ChatMessage, ...], turns: Sequence[Turn], seed: int
    ) -> Reply | None:
        """One call; None when there was no reply after the provider's retries."""
        most = most_items(len(turns), sum(len(turn.text) for turn in turns))
        # without feedback the messages are the same: at temperature 0 so would be the reply
        warm = seed > 0 and not self._guards.feedback
        request = Request(
            messages,
            schema=schema(len(turns), most),
            temperature=_WARM if warm else 0.0,
            max_tokens=most_tokens(most),
            seed=seed,
        )
        self._tally.add("calls")
        try:
            reply = self._llm.complete(request)
        except ReplyError:
            self._tally.add("failed_calls")
            return Reply("", Finish.OTHER)
        except ModelError:
            self._tally.add("failed_calls")
            return None
        if not reply.cached:
            self._tally.add("fresh")
        return reply

    def _check(self, reading: Reading, turns: Sequence[Turn], source: Source) -> Checked:
        """Facts of a reading; the others are counted."""
        if reading.mended:
            self._tally.add("repaired")
        if reading.loops:
            self._tally.add("loops")
        self._tally.add("repeated", reading.repeated)
        attributor = Attributor(turns)
        facts = []
        state, problem = reading.state, reading.problem
        for item in reading.items:
            fact = self._fact(item, attributor, source)
            if isinstance(fact, Fact):
                facts.append(fact)
            else:
                problem = problem or fact
        thin = len(reading.items) > _FEW and len(facts) < _THIN * len(reading.items)
        if thin and self._guards.substance:
            state = State.UNUSABLE
        return Checked(tuple(facts), state, problem)

    def _fact(self, item: Item, attributor: Attributor, source: Source) -> Fact | str:
        """The fact of an item, or why it is refused."""
        if self._guards.substance and is_talk(item.fact):
            self._tally.refuse("talk")
            return "most facts only say that somebody asks, greets or shares something"
        if self._guards.support:
            refused = source.refusal(item.fact)
            if refused is not None:
                self._tally.refuse(refused.kind)
                return f'the conversation does not say "{refused.word}"'
        turns = attributor.turns_of(item.fact, item.turns)
        if not turns and self._guards.support:
            self._tally.refuse("words")
            return "the facts are not what the conversation says"
        return fact_of(item, turns, source)


def tail(statements: Sequence[str], size: int) -> Sequence[str]:
    """The last `size` of them."""
    return statements[len(statements) - size :] if size else ()


def _noted(known: Sequence[str]) -> str:
    return "\n".join([KNOWN, *(f"- {text}" for text in known)]) if known else ""


def _told(messages: tuple[ChatMessage, ...], reply: Reply, problem: str) -> tuple[ChatMessage, ...]:
    """The messages with a bad reply (its beginning) and what was wrong with it."""
    said = reply.text.strip()[:_REPLY_SHOWN] or "(nothing)"
    again = EXTRACTION_AGAIN.render(problem=problem)
    return (*messages, ChatMessage("assistant", said), *again)
