"""A program and material to reflect on, small enough to count by hand."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from memgene.evolution.reflection.material import (
    LineageEntry,
    Material,
    Reference,
    ShownCase,
    ShownViolation,
    ShownWrite,
)

PROGRAM = '''\
"""Keeps every episode, returns the newest."""

from dataclasses import dataclass, field

INSTRUCTION_KNOWLEDGE_ITEM = "Sum it up."
INSTRUCTION_QUERY = "Ask for what is needed."
INSTRUCTION_RESPONSE = "Answer in a few words."
ALWAYS_ON_KNOWLEDGE = ""


@dataclass
class KnowledgeItem:
    summary: str = field(metadata={"description": "what happened"})


@dataclass
class Query:
    query_text: str


class KnowledgeBase:
    def __init__(self, toolkit):
        self.toolkit = toolkit
        self.texts = []

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        self.texts.append(raw_text)

    def read(self, query: Query) -> str:
        return self.texts[-1][:3000] if self.texts else "Nothing yet."
'''


class Make(Protocol):
    def __call__(self, **given: Any) -> Material: ...


@pytest.fixture
def source() -> str:
    return PROGRAM


@pytest.fixture
def material() -> Make:
    """Material with something in every section; arguments replace parts of it."""

    def make(**given: Any) -> Material:
        parts: dict[str, Any] = {
            "source": PROGRAM,
            "id": "p2",
            "iteration": 7,
            "score": 0.4123,
            "metric": "token_f1",
            "metric_about": "words shared with the right answer",
            "hints": "Two people talk over months.",
            "lineage": (
                LineageEntry("p0", None, "Vector seed", "", 0.3, kind="seed"),
                LineageEntry(
                    "p2", "p0", "Keep all", "- Cause: lost\n- Change: kept", 0.4123, 0.1123
                ),
                LineageEntry("p4", "p2", "Keep ten", "- Cause: slow", 0.2, -0.2123, regressed=True),
                LineageEntry("p5", "p2", "Keep two", "", None, refused="the same as p4"),
            ),
            "writes": (ShownWrite("Kim: I sold the boat.", '{"summary": "boat sold"}'),),
            "logs": ("3 texts stored", "4 texts\nstored"),
            "successes": (
                ShownCase(
                    "Who sold it?", ("Kim",), "Kim", 1.0, (("user", "Q1"), ("assistant", "Kim"))
                ),
            ),
            "references": (
                Reference("p1", 0.5, "HIGHER = 1\n", higher=True),
                Reference("p3", 0.1, "LOWER = 1\n", higher=False),
            ),
            "violations": (ShownViolation("read", "IndexError: list index", "line 9, in read", 3),),
            "failing": (
                ShownCase(
                    "Where is the boat?",
                    ("in Porto", "Porto"),
                    "unknown",
                    0.0,
                    (
                        ("user", "Look it up."),
                        ("assistant", '{"query_text": "boat"}'),
                        ("user", "Kim: I sold the boat."),
                        ("assistant", "unknown"),
                    ),
                ),
                ShownCase("When was that?", (), "", 0.25, failure="read: took longer than 60 s"),
            ),
        }
        return Material(**{**parts, **given})

    return make
