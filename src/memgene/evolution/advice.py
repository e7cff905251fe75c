"""The form of a model's diagnosis: what it has to fill in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

_TEXT = 200
_ITEMS = 5
_NAME = 60


def _cut(limit: int) -> BeforeValidator:
    """Cuts a text under its bound (one that fills it counts as broken off, and a reason that was
    is still one), and takes out half characters, which no file can hold."""

    def cut(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value[: limit - 1].encode("utf-8", "replace").decode().strip()

    return BeforeValidator(cut)


def _first(value: Any) -> Any:
    return value[:_ITEMS] if isinstance(value, list) else value


def _few(most: int) -> tuple[BeforeValidator, Any]:
    return BeforeValidator(_first), Field(json_schema_extra={"maxItems": most})


# The bounds stand in the schema, so that a model which is held to it comes to an end; what others
# write beyond them is cut off, which is better than to refuse a diagnosis for its length.
_FEW = _few(_ITEMS)
Text = Annotated[str, _cut(_TEXT), Field(json_schema_extra={"maxLength": _TEXT})]
Name = Annotated[str, _cut(_NAME), Field(json_schema_extra={"maxLength": _NAME})]
Count = Annotated[int, Field(ge=0)]
Value = bool | int | float | Name
_CHANGES = "levers to change for all questions"
_EXTRACTION = "levers of how facts are written down"
_BY_TYPE = "levers to change for one question type only"


class CauseCounts(BaseModel):
    """How many failures the model ascribes to each cause."""

    model_config = ConfigDict(frozen=True)

    never_stored: Count = 0
    not_retrieved: Count = 0
    ranked_low: Count = 0
    answered_wrong: Count = 0


class LeverChange(BaseModel):
    """A lever and the value it should have."""

    model_config = ConfigDict(frozen=True)

    lever: Name
    value: Value
    why: Text = ""


class TypeChange(LeverChange):
    """The same for one predicted question type."""

    question_type: Name


class Advice(BaseModel):
    """A diagnosis as the paper asks for it: causes, missing topics, changes to levers, to
    extraction and by question type, and what to do next (EvolveMem §4; the names are ours).

    Only `changes` has to be there (it may be empty): without it a reply is not this form at all.
    """

    model_config = ConfigDict(frozen=True)

    causes: CauseCounts = Field(CauseCounts(), description="your count of failures by cause")
    missing_topics: Annotated[tuple[Text, ...], *_FEW] = Field(
        (), description="what the memory lacks"
    )
    changes: Annotated[tuple[LeverChange, ...], *_FEW] = Field(description=_CHANGES)
    extraction: Annotated[tuple[LeverChange, ...], *_FEW] = Field((), description=_EXTRACTION)
    by_type: Annotated[tuple[TypeChange, ...], *_FEW] = Field((), description=_BY_TYPE)
    next: Text = Field("", description="what to try after this")

    @property
    def wanted(self) -> tuple[LeverChange, ...]:
        """All changes, in the order in which they are looked at."""
        return (*self.changes, *self.extraction, *self.by_type)


def advice_about(
    most: int,
    levers: Sequence[str],
    writing: Sequence[str],
    typed: Sequence[str],
    types: Sequence[str],
) -> type[Advice]:
    """`Advice` whose schema says how many changes to make at most and names what may be chosen:
    levers, those of extraction (`writing`), those that may differ by question type (`typed`), and
    the types. Other names are still read: they are told back, and the rest of a reply counts."""
    return create_model(
        "Advice",
        __base__=Advice,
        changes=_list(LeverChange, most, _CHANGES, ..., lever=levers),
        extraction=_list(LeverChange, most, _EXTRACTION, (), lever=writing),
        by_type=_list(TypeChange, most, _BY_TYPE, (), lever=typed, question_type=types),
    )


def _list(
    base: type[LeverChange], most: int, about: str, default: Any, **names: Sequence[str]
) -> Any:
    """A list of changes with these names to choose from; an empty one where there are none."""
    if not all(names.values()):
        nothing = Field(default, description=about, json_schema_extra={"maxItems": 0})
        return (Annotated[tuple[base, ...], BeforeValidator(_first)], nothing)  # type: ignore[valid-type]
    fields: dict[str, Any] = {
        field: (Annotated[str, _cut(_NAME), Field(json_schema_extra={"enum": list(known)})], ...)
        for field, known in names.items()
    }
    item = create_model(base.__name__, __base__=base, **fields)
    return (Annotated[tuple[item, ...], *_few(most)], Field(default, description=about))  # type: ignore[valid-type]
