"""BFCL v4, memory category: 37 prerequisite conversations in five scenarios and 155 questions.

Berkeley Function-Calling Leaderboard, Apache-2.0. One group per scenario, one episode per
prerequisite conversation, one message per user turn. Each answer quotes its source; the message
that holds the quote is the evidence. Its official score is `contains`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from memgene.core import DataError, Episode, Gold, LabelledQuestion, Message, Question, stable_id
from memgene.tasks.benchmarks.info import BenchmarkInfo
from memgene.tasks.sources import check_pinned, locate, refuse_unknown
from memgene.tasks.task import Exclusion, Regime, Task

FILENAME = "BFCL_v4_memory.json"
FOLDERS = ("", "bfcl", "bfcl_eval/data", "data")
ANSWERS = f"possible_answer/{FILENAME}"
CONVERSATIONS = "memory_prereq_conversation/memory_{}.json"
SCENARIOS = ("customer", "healthcare", "finance", "student", "notetaker")
SHA256: Mapping[str, str] = {
    FILENAME: "40fc21d4528af53c6b44204def89e81515d0101654229e2c2e82bbf5f047b14f",
    ANSWERS: "2355cf8d842f94af6bcb7bfa6ad2f9e472bc6d825d6ecd45702cfc41e27d7e5d",
    CONVERSATIONS.format("customer"): (
        "806ac91e558e3d933e526ecc0c286e417657f76a3c9b9073eef830a532eb4eb2"
    ),
    CONVERSATIONS.format("healthcare"): (
        "56e7bd7b2e7c01efe81f1e0be85149ea3886bb2d9cb59f90e9d9e27b91f4604d"
    ),
    CONVERSATIONS.format("finance"): (
        "3cef1f235667f479b8f45c7082247454b2129ee88fe4fbcdbc53fd2cdf495b75"
    ),
    CONVERSATIONS.format("student"): (
        "e2d6c32e9e2671c61f682e845dcdafd9eee7c9f3e2d5da1615d3afd2aeecf2f0"
    ),
    CONVERSATIONS.format("notetaker"): (
        "07f3239ef2e9e1421901f05d3c8192469fa129324e124a47bcb35ff9c7785c91"
    ),
}
LICENCE = "Apache-2.0"
OBTAIN = (
    "BFCL v4 (Apache-2.0) is in the wheel of the PyPI package bfcl-eval, folder bfcl_eval/data: "
    "pip download --no-deps bfcl-eval, unzip it, and give that folder"
)

_LEAST_SHARED_WORDS = 3


def load(data: Path | None, options: Mapping[str, Any]) -> Task:
    """Read the seven files of the memory category (JSON lines, although named .json)."""
    refuse_unknown(options, tuple(INFO.options), INFO.name)
    root = locate(data, FILENAME, FOLDERS, OBTAIN).parent
    unpinned = bool(options.get("unpinned", False))
    missing = [name for name in SHA256 if not (root / name).is_file()]
    if missing:
        raise DataError(f"{root} lacks {', '.join(missing)}. {OBTAIN}")
    hashes = [check_pinned(root / name, sha, unpinned=unpinned) for name, sha in SHA256.items()]
    try:
        return _task(root, hashes)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(
            f"{root} has not the shape of BFCL v4's memory category: "
            f"{type(error).__name__} {error}. {OBTAIN}"
        ) from error


def locate_quote(quote: str, messages: Sequence[Message]) -> tuple[str, ...]:
    """Ids of the messages a quote is taken from, in message order; empty when none is found.

    A quote is cut at ellipses. A fragment that stands in one message only locates it; one that
    stands in several says nothing beside others. A fragment that stands in none (it was
    retouched) goes to the message with the longest shared run of words, at least three and at
    least half of the fragment.
    """
    texts = [_words(message.content) for message in messages]
    fragments = [words for part in re.split(r"\.{3,}|…", quote) if (words := _words(part))]
    found: set[int] = set()
    vague: set[int] = set()
    for fragment in fragments:
        holders = [i for i, text in enumerate(texts) if _stands_in(fragment, text)]
        if not holders:
            found.update(_nearest(fragment, texts))
        elif len(holders) == 1:
            found.update(holders)
        else:
            vague.update(holders)
    return tuple(str(messages[i].id) for i in sorted(found or vague))


def _task(root: Path, hashes: Sequence[str]) -> Task:
    episodes = tuple(
        _episode(scenario, record)
        for scenario in SCENARIOS
        for record in _lines(root / CONVERSATIONS.format(scenario))
    )
    turns = {
        scenario: [m for e in episodes if e.group == scenario for m in e.messages]
        for scenario in SCENARIOS
    }
    answers = {record["id"]: record for record in _lines(root / ANSWERS)}
    questions = tuple(
        _question(record, answers[record["id"]], turns[record["scenario"]])
        for record in _lines(root / FILENAME)
    )
    return Task(
        name=INFO.name,
        episodes=episodes,
        questions=questions,
        regime=INFO.regime,
        metric=INFO.metric,
        fingerprint=stable_id(INFO.name, *hashes),
        exclusions=tuple(Exclusion(q.id, q.gold.unusable) for q in questions if q.gold.unusable),
        licence=LICENCE,
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(f"{path}:{number}: not JSON: {error}") from error
    return records


def _episode(scenario: str, record: Mapping[str, Any]) -> Episode:
    # memory_prereq_22-student-0 is the first conversation of the scenario: student/0.
    name = f"{scenario}/{record['id'].rsplit('-', 1)[1]}"
    messages = tuple(
        Message(text=message["content"], id=f"{name}:{number}", speaker=message["role"])
        for number, message in enumerate(m for turn in record["question"] for m in turn)
    )
    return Episode(
        id=name,
        messages=messages,
        group=scenario,
        source=name,
        metadata={"topic": record["topic"]},
    )


def _question(
    record: Mapping[str, Any], answer: Mapping[str, Any], turns: Sequence[Message]
) -> LabelledQuestion:
    evidence = locate_quote(answer["source"], turns)
    scenario = record["scenario"]
    return LabelledQuestion(
        Question(id=record["id"], text=record["question"][0][0]["content"], group=scenario),
        Gold(
            answers=tuple(str(accepted) for accepted in answer["ground_truth"]),
            evidence=evidence,
            category=scenario,
            unusable=None if evidence else "the source quote stands in no message",
        ),
    )


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "").replace("'", "")
    return re.findall(r"\w+", plain)


def _stands_in(fragment: Sequence[str], text: Sequence[str]) -> bool:
    return f" {' '.join(fragment)} " in f" {' '.join(text)} "


def _nearest(fragment: list[str], texts: Sequence[list[str]]) -> list[int]:
    shared = [
        SequenceMatcher(None, fragment, text, autojunk=False).find_longest_match().size
        for text in texts
    ]
    best = max(range(len(texts)), key=lambda i: shared[i])
    enough = max(_LEAST_SHARED_WORDS, len(fragment) / 2)
    return [best] if shared[best] >= enough else []


INFO = BenchmarkInfo(
    name="bfcl-memory",
    description="What a user told an assistant about themselves, in five scenarios",
    regime=Regime.OWN_GROUP,
    metric="token_f1",
    licence=LICENCE,
    obtain=OBTAIN,
    load=load,
    filename=FILENAME,
    folders=FOLDERS,
    options={"unpinned": "accept files that are not the official ones"},
)
