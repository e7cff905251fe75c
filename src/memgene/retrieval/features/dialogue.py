"""Who speaks, to whom, and whether a question was just asked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memgene.retrieval.features.candidates import Candidates, Floats, floats
from memgene.retrieval.features.registry import Compute, Feature
from memgene.retrieval.index import NONE


def features() -> Iterable[Feature]:
    """Speakers and question–answer pairs; 0 with `has_speaker` 0 where nobody is named."""
    yield Feature("has_speaker", _has_speaker, "the unit has a speaker")
    yield Feature("speaker", _speaker, "said by somebody the question names")
    yield Feature("other_speaker", _other, "said by somebody else than the question names")
    yield Feature("addressed", _addressed, "said to a person the question names, who spoke before")
    yield Feature("name_in_text", _name_in_text, "a person of the question is named in the words")
    yield Feature("previous_is_question", lambda c: _question_before(c), "the turn before asks")
    yield Feature("next_is_question", lambda c: c.trait("question", 1), "the turn after asks")
    for signal in ("bm25", "coverage", "soft", "dense"):
        yield Feature(
            f"answer.{signal}",
            _answer(signal),
            f"the turn before asks and fits by {signal}",
            (signal,),
        )
        yield Feature(
            f"asks.{signal}", _asks(signal), f"the unit asks and fits by {signal}", (signal,)
        )
        yield Feature(
            f"speaker.{signal}",
            _by_speaker(signal),
            f"{signal}, if said by a person of the question",
            (signal,),
        )
        yield Feature(
            f"answer_speaker.{signal}",
            _answer_by_speaker(signal),
            f"{signal} of the turn before, if said by a person of the question",
            (signal,),
        )
    yield Feature("speaker.first_person", _about_self, "a person of the question about themselves")
    yield Feature("other.second_person", _about_you, "somebody else to a person of the question")
    yield Feature("names_in_question", _names, "how many persons the question names")


def _has_speaker(c: Candidates) -> Floats:
    named: Floats = (c.index.speaker[c.rows] != NONE).astype(np.float32)
    return named


def _speaker(c: Candidates, offset: int = 0) -> Floats:
    return c.said_by[offset]


def _other(c: Candidates) -> Floats:
    return _has_speaker(c) * (1 - _speaker(c)) * np.float32(bool(c.query.speakers))


def _addressed(c: Candidates) -> Floats:
    return _other(c) * _speaker(c, -1)


def _name_in_text(c: Candidates) -> Floats:
    names = frozenset(t.term for t in c.query.terms if t.is_name and t.term is not None)
    # the speaker's own name is part of the indexed words
    return floats(np.maximum(c.holds(names) - _speaker(c), 0))


def _question_before(c: Candidates) -> Floats:
    return c.trait("question", -1)


def _answer(signal: str) -> Compute:
    return lambda c: _question_before(c) * c.value(signal, -1)


def _asks(signal: str) -> Compute:
    return lambda c: c.trait("question") * c.value(signal)


def _by_speaker(signal: str) -> Compute:
    return lambda c: _speaker(c) * c.value(signal)


def _answer_by_speaker(signal: str) -> Compute:
    return lambda c: _speaker(c) * c.value(signal, -1)


def _about_self(c: Candidates) -> Floats:
    return _speaker(c) * np.minimum(c.trait("first_person"), 3)


def _about_you(c: Candidates) -> Floats:
    return _other(c) * np.minimum(c.trait("second_person"), 3)


def _names(c: Candidates) -> Floats:
    return np.full(len(c), len(c.query.speakers), np.float32) * _speaker(c)
