"""The agent of M* §4 over a language model: extract, formulate, respond, and verify a draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from memgene.agents.checking import stands
from memgene.agents.llm.dating import dated
from memgene.agents.llm.reply import answer_of
from memgene.bank.unit import render_date
from memgene.core import (
    Answer,
    AnswerPlan,
    Context,
    Episode,
    Filled,
    Question,
    ReplyError,
    Schema,
)
from memgene.llm.prompts import agent as words
from memgene.llm.prompts.answer_styles import ANSWER_STYLES
from memgene.llm.protocol import LLM, ChatMessage, Finish, Request
from memgene.llm.structured import ask, model_of

_PLAN = AnswerPlan()
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Draft(BaseModel):
    """A reply with the model's own confidence."""

    model_config = ConfigDict(extra="forbid")

    answer: str = Field(max_length=600)
    confidence: float = Field(ge=0, le=1)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """`attempts` per step (a cut or unusable reply is asked for again), longest answer and record
    in tokens, and whether relative dates in the context are resolved by rule (`resolve_dates`)."""

    attempts: int = 3
    answer_tokens: int = 128
    record_tokens: int = 1024
    resolve_dates: bool = False


class LLMAgent:
    """Three fixed prompts filled with the harness's instructions. Thread-safe.

    A schema without fields needs no call; nor does a query of one text field without instructions
    for it: the question itself is the query. A step whose reply stays unusable raises ReplyError,
    one that gets no reply ModelError; the evaluation counts both as errors, not as wrong answers,
    but blames unusable replies on memories that word the prompts themselves.
    """

    def __init__(self, llm: LLM, settings: AgentSettings | None = None) -> None:
        self._llm = llm
        self._settings = settings or AgentSettings()

    @property
    def name(self) -> str:
        """`llm:` and the model, as settings spell it."""
        dates = "+dates" if self._settings.resolve_dates else ""
        return f"llm:{self._llm.name}{dates}"

    @property
    def concurrency(self) -> int:
        """How many steps at once make sense."""
        return self._llm.concurrency

    def extract(self, episode: Episode, schema: Schema, instruction: str) -> Filled:
        """Fill the item schema from an episode."""
        if not schema.fields:
            return Filled(schema)
        messages = words.EXTRACT.render(
            instruction=instruction,
            date=_on(episode.time),
            episode=episode.text,
            record=schema.name,
        )
        return self._fill(messages, schema)

    def formulate(self, question: Question, schema: Schema, instruction: str) -> Filled:
        """Fill the query schema from a question; the conversation is kept for the answer."""
        if len(schema.fields) == 1 and schema.fields[0].type == "str" and not instruction:
            return Filled(schema, {schema.fields[0].name: question.text})
        messages = words.FORMULATE.render(
            instruction=instruction,
            date=_on(question.time),
            question=question.text,
            record=schema.name,
        )
        return self._fill(messages, schema)

    def respond(
        self,
        question: Question,
        context: Context,
        instruction: str,
        always_on: str = "",
        query: Filled | None = None,
    ) -> Answer:
        """Answer from the context alone, in the conversation that made the query."""
        plan = context.plan or _PLAN
        memory = dated(context.text) if self._settings.resolve_dates else context.text
        memory = f"{always_on}\n\n{memory}".strip()
        verifies = plan.verification != "off"
        asked = words.RESPOND.render(
            memory=memory,
            instruction="\n".join(part for part in (instruction, plan.instruction) if part),
            style=ANSWER_STYLES[plan.style],
            date=_on(question.time),
            question=question.text,
            choices=_choices(question),
            form=words.CONFIDENT_FORM if verifies else words.ANSWER_FORM,
        )
        messages = _continued(query, asked)
        draft = self._drafted(messages) if verifies else answer_of(self._say(messages))
        sure = not verifies or (not draft.abstained and (draft.confidence or 0.0) >= plan.threshold)
        if sure and stands(context, draft):
            return draft
        return self._verified(question, memory, plan, draft)

    def _verified(self, question: Question, memory: str, plan: AnswerPlan, draft: Answer) -> Answer:
        """A second call on an unsure or abstaining draft (EvolveMem §3, verification), or on one
        that the memory does not accept; strict where the plan leaves open how."""
        how = "strict" if plan.verification == "off" else plan.verification
        messages = words.VERIFY.render(
            memory=memory,
            date=_on(question.time),
            question=question.text,
            choices=_choices(question),
            draft=draft.text or "(none)",
            task=words.STRICT_TASK if how == "strict" else words.MULTI_TASK,
            style=ANSWER_STYLES[plan.style],
        )
        checked = self._drafted(messages)
        return Answer(checked.text, checked.abstained, f"verified:{how}", (), checked.confidence)

    def _drafted(self, messages: Sequence[ChatMessage]) -> Answer:
        found = ask(
            self._llm,
            messages,
            Draft,
            max_tokens=self._settings.answer_tokens * 2,
            attempts=self._settings.attempts,
        ).value
        return answer_of(found.answer, found.confidence)

    def _fill(self, messages: Sequence[ChatMessage], schema: Schema) -> Filled:
        found = ask(
            self._llm,
            messages,
            model_of(schema),
            max_tokens=self._settings.record_tokens,
            attempts=self._settings.attempts,
        ).value
        said = (*((m.role, m.content) for m in messages), ("assistant", found.model_dump_json()))
        return Filled(schema, found.model_dump(), said)

    def _say(self, messages: Sequence[ChatMessage]) -> str:
        """A whole reply in plain words; one that was cut is asked for again, shorter."""
        talk = tuple(messages)
        failed: list[str] = []
        for _ in range(self._settings.attempts):
            reply = self._llm.complete(Request(talk, max_tokens=self._settings.answer_tokens))
            if reply.finish is Finish.STOP and reply.text.strip():
                return reply.text
            why = "it was empty" if reply.finish is Finish.STOP else f"it ended by {reply.finish}"
            failed.append(why)
            shown = ChatMessage("assistant", reply.text.strip()[:200] or "…")
            talk = (*messages, shown, *words.SHORTER.render())
        raise ReplyError(
            f"{self._llm.name} gave no whole answer in {self._settings.attempts} attempts: "
            f"{', '.join(failed)}"
        )


def _continued(query: Filled | None, asked: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The turns that made the query, then the question with what was found; one system text."""
    said = [ChatMessage(role, text) for role, text in query.said] if query else []
    if said and said[0].role == "system" and asked[0].role == "system":
        head = ChatMessage("system", f"{said[0].content}\n{asked[0].content}")
        return (head, *said[1:], *asked[1:])
    return (*said, *asked)


def _on(time: datetime | None) -> str:
    return f" ({render_date(time)})" if time else ""


def _choices(question: Question) -> str:
    if not question.choices:
        return ""
    lines = [
        f"{letter}. {choice}" for letter, choice in zip(_LETTERS, question.choices, strict=False)
    ]
    return "\n" + "\n".join(lines)
