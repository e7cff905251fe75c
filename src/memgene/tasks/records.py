"""The lines of a task folder, as outside input: strict types, unknown keys refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memgene.tasks.metrics import get_metric
from memgene.tasks.task import Regime

FORMAT = 1


def _moment(value: object) -> datetime:
    """ISO 8601 text (`2023-05-08` or `2023-05-08T13:56`); a naive time stays naive."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("a time is ISO 8601 text like 2023-05-08T13:56")  # noqa: TRY004
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is not ISO 8601 like 2023-05-08T13:56") from None


def _words(value: object) -> object:
    """Numbers are accepted as answers and become text; truth values are not."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _known_metric(value: object) -> object:
    if isinstance(value, str):
        get_metric(value)
    return value


Moment = Annotated[datetime, BeforeValidator(_moment)]
Text = Annotated[str, Field(min_length=1)]
AnswerText = Annotated[Text, BeforeValidator(_words)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MessageRecord(_Record):
    """One message. Without an id it is `<episode id>:<position from 0>`."""

    text: str
    id: Text | None = None
    speaker: Text | None = None
    time: Moment | None = None
    caption: Text | None = None


class EpisodeRecord(_Record):
    """One line of episodes.jsonl: `text` (one message) or `messages`."""

    id: Text
    text: Text | None = None
    messages: list[MessageRecord] | None = None
    group: Text | None = None
    time: Moment | None = None
    source: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_form(self) -> EpisodeRecord:
        if (self.text is None) == (self.messages is None):
            raise ValueError("an episode has either text or messages")
        if self.messages is not None and not any(m.text or m.caption for m in self.messages):
            raise ValueError("the episode has no message with text")
        return self


class RubricRecord(_Record):
    """One criterion with its points; negative points mark what is undesirable."""

    model_config = ConfigDict(extra="allow", strict=False, frozen=True)

    criterion: Text
    points: float


class QuestionRecord(_Record):
    """One line of questions.jsonl. `answer`: text, number, list of alternatives, or null.

    null means "memory does not tell": abstaining is right. `unusable` says why the evidence
    cannot be scored.
    """

    id: Text
    question: Text
    answer: AnswerText | list[AnswerText] | None = None
    evidence: list[Text] = Field(default_factory=list)
    category: Text = "all"
    group: Text | None = None
    time: Moment | None = None
    rubric: list[RubricRecord] = Field(default_factory=list)
    choices: list[Text] = Field(default_factory=list)
    unusable: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_gold(self) -> QuestionRecord:
        if "answer" not in self.model_fields_set and not self.rubric:
            raise ValueError("answer is missing; null says that memory does not tell it")
        if self.answer == []:
            raise ValueError("the list of answers is empty; null says that memory does not tell")
        return self

    @property
    def answers(self) -> tuple[str, ...]:
        """Accepted answers; none = not answerable."""
        if self.answer is None:
            return ()
        return (self.answer,) if isinstance(self.answer, str) else tuple(self.answer)


class SplitsRecord(_Record):
    """[splits]: groups by name."""

    dev: list[Text] = Field(default_factory=list)
    val: list[Text] = Field(default_factory=list)
    test: list[Text] = Field(default_factory=list)


class TaskRecord(_Record):
    """task.toml."""

    model_config = ConfigDict(extra="forbid", strict=False, frozen=True)

    name: Text
    memory: Regime
    metric: Annotated[str, BeforeValidator(_known_metric)] = "token_f1"
    format: int = Field(default=FORMAT, ge=1, le=FORMAT)
    licence: str = ""
    set_apart: list[Text] = Field(default_factory=list)
    set_apart_metric: Annotated[str, BeforeValidator(_known_metric)] | None = None
    hints: dict[str, str] = Field(default_factory=dict)
    splits: SplitsRecord | None = None
