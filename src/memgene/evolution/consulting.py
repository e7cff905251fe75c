"""Asking a language model what is wrong with a memory and what to change (EvolveMem §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memgene.core import ModelError, content_hash
from memgene.evolution.advice import Advice, advice_about
from memgene.evolution.briefing import MOST_TOKENS, Briefing, most_of
from memgene.evolution.changes import WRITING, Change, focused, may_differ_by_type
from memgene.evolution.diagnosis import Cause, Diagnosis
from memgene.evolution.means import Means
from memgene.evolution.proposers import Attempt, tried
from memgene.evolution.vetting import Vetted, Vetting
from memgene.llm.prompts.diagnosis import CORRECTION
from memgene.llm.protocol import LLM, ChatMessage, Reply, Request
from memgene.llm.structured import ask
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.question_type import QUESTION_TYPES

_REPLY_TOKENS = 2_048  # what is asked for is shorter; some models think aloud first
_FAULT = 400  # characters: errors quote replies, which are in the transcript


@dataclass(frozen=True, slots=True)
class Consultation:
    """What a model said. `changes` is empty when nothing it said can be tried; `unusable` then
    says why. `transcript` holds all prompts and replies as Markdown."""

    changes: tuple[Change, ...]
    reasons: tuple[str, ...]
    advice: Advice | None
    problems: tuple[str, ...]
    unusable: str
    transcript: str

    @property
    def exchange(self) -> str:
        """A hash of what was said."""
        return content_hash(self.transcript)[:16]


class Consultant:
    """Asks the model, tells it once what of its reply cannot be tried, and takes what can.

    Args:
        llm: the model of role diagnose.
        available, metric, max_changes: what changes are possible and how many at once.
        max_tokens: bound of the first prompt (estimated).
        attempts: replies asked for until one has the form; see `structured.ask`.
    """

    def __init__(
        self,
        llm: LLM,
        available: Means,
        metric: str,
        max_changes: int = 2,
        *,
        max_tokens: int = MOST_TOKENS,
        attempts: int = 3,
    ) -> None:
        self._llm = llm
        self._available = available
        self._metric = metric
        self._most = max_changes
        self._attempts = attempts
        self._briefing = Briefing(available, metric, max_changes, max_tokens)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._llm.name

    def consult(
        self,
        diagnosis: Diagnosis,
        config: RetrievalConfig,
        history: Sequence[Attempt],
        seed: int = 0,
    ) -> Consultation:
        """Proposals for a configuration. A failing model and replies of no use are reported in
        the result; BudgetExhaustedError and ConfigError are raised."""
        vetting = Vetting(config, self._available, self._metric, history, self._most)
        heard = _Listener(self._llm)
        into = self._form(vetting, config)
        messages = self._briefing.messages(diagnosis, config, history, into)
        advice, vetted, failure = None, Vetted((), (), ()), ""
        try:
            advice = self._ask(heard, messages, into, seed)
            problems = vetting.vet(advice, final=False).problems
            vetted = vetting.vet(advice, final=True)
            if problems:
                told = self._corrected(messages, advice, problems)
                second = self._ask(heard, told, into, seed)
                later = vetting.vet(second, final=True)
                if later.changes or not vetted.changes:
                    advice, vetted = second, later
        except ModelError as error:
            failure = str(error)[:_FAULT]
        vetted = self._with_focus(vetted, advice, diagnosis, config, history)
        unusable = "" if vetted.changes else failure or _why_not(vetted)
        return Consultation(
            vetted.changes, vetted.reasons, advice, vetted.problems, unusable, heard.transcript
        )

    def _ask(
        self, llm: LLM, messages: tuple[ChatMessage, ...], into: type[Advice], seed: int
    ) -> Advice:
        return ask(
            llm, messages, into, max_tokens=_REPLY_TOKENS, attempts=self._attempts, seed=seed
        ).value

    def _with_focus(
        self,
        vetted: Vetted,
        advice: Advice | None,
        diagnosis: Diagnosis,
        config: RetrievalConfig,
        history: Sequence[Attempt],
    ) -> Vetted:
        """The topics that the model misses become a change of their own where facts are extracted
        and dev shows that some were never stored, as far as there is room for one more."""
        topics = advice.missing_topics if advice else ()
        made = focused(config, topics) if topics else None
        if made is None or not diagnosis.causes[Cause.NEVER_STORED]:
            return vetted
        changes = (*vetted.changes, made)
        if len(changes) > self._most or tried(config, changes, history):
            return vetted
        why = f"facts about {made.value} were never stored"
        return replace(vetted, changes=changes, reasons=(*vetted.reasons, why))

    def _form(self, vetting: Vetting, config: RetrievalConfig) -> type[Advice]:
        """The reply's form. A model that is held to a schema gets the names to choose from; for
        others they would only make the prompt longer."""
        if not self._llm.constrains:
            return Advice
        usable = vetting.usable
        typed = [name for name in usable if may_differ_by_type(config, name)]
        writing = [name for name in usable if name in WRITING]
        return advice_about(self._most, usable, writing, typed, QUESTION_TYPES)

    def _corrected(
        self, messages: tuple[ChatMessage, ...], advice: Advice, problems: Sequence[str]
    ) -> tuple[ChatMessage, ...]:
        listed = "\n".join(f"- {problem}" for problem in problems)
        told = CORRECTION.render(problems=listed, most=most_of(self._most))
        return (*messages, ChatMessage("assistant", advice.model_dump_json()), *told)


def _why_not(vetted: Vetted) -> str:
    return "; ".join(vetted.problems) or "it proposed no change"


@dataclass(slots=True)
class _Listener:
    """The LLM protocol over another model; keeps what is said."""

    inner: LLM
    said: list[tuple[Request, Reply | str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def constrains(self) -> bool:
        return self.inner.constrains

    @property
    def concurrency(self) -> int:
        return self.inner.concurrency

    def complete(self, request: Request) -> Reply:
        try:
            reply = self.inner.complete(request)
        except Exception as error:
            self.said.append((request, f"{type(error).__name__}: {error}"))
            raise
        self.said.append((request, reply))
        return reply

    def close(self) -> None:
        """Nothing: the model belongs to who made it."""

    @property
    def transcript(self) -> str:
        """Each message once: a later request begins with what came before, without the form that
        was asked for at its end."""
        parts: list[str] = []
        known: list[str] = []
        for request, reply in self.said:
            for message in request.messages:
                told = any(text.startswith(message.content) for text in known)
                if message.role != "assistant" and not told:
                    parts.append(_block(message.role, message.content))
                    known.append(message.content)
            if isinstance(reply, Reply):
                parts.append(_block(f"reply ({reply.finish})", reply.text))
            else:
                parts.append(_block("no reply", reply))
        # what a model writes may hold half a character, which no file can
        return "\n".join(parts).encode("utf-8", "replace").decode()


def _block(title: str, text: str) -> str:
    fence = "~" * 4
    while fence in text:
        fence += "~"
    return f"## {title}\n\n{fence}\n{text}\n{fence}\n"
