"""LoCoMo: ten long two-person conversations and 1,986 questions (Maharana et al., ACL 2024).

One episode per session, one message per turn. The official file has traps, all handled here:
five categories without names, integer answers, evidence strings that are malformed, joined or
point at no turn, adversarial questions without an answer, and dates of sessions that do not
exist. What cannot be resolved is named in `Gold.unusable`, `Gold.metadata["unresolved"]` and
`Task.exclusions`, never dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memgene.core import (
    DataError,
    Episode,
    Gold,
    LabelledQuestion,
    Message,
    Question,
    stable_id,
)
from memgene.tasks.benchmarks.info import BenchmarkInfo
from memgene.tasks.benchmarks.locomo_audit import apply_audit
from memgene.tasks.sources import check_pinned, locate, refuse_unknown
from memgene.tasks.task import Exclusion, Regime, Task

FILENAME = "locomo10.json"
FOLDERS = ("", "locomo", "data", "locomo/data")
SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
LICENCE = "CC BY-NC 4.0"
OBTAIN = (
    "LoCoMo (CC BY-NC 4.0, not for commercial use) is "
    "https://github.com/snap-research/locomo/blob/main/data/locomo10.json"
)

# Named by what the questions are and by their counts (282, 321, 96, 841, 446).
CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
ADVERSARIAL = CATEGORIES[5]

_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_MOMENT = re.compile(r"(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) (\w+), (\d{4})", re.IGNORECASE)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def load(data: Path | None, options: Mapping[str, Any]) -> Task:
    """Read `locomo10.json`. `audit` applies the overlay of known gold errors beside the file."""
    refuse_unknown(options, tuple(INFO.options), INFO.name)
    path = locate(data, FILENAME, FOLDERS, OBTAIN)
    sha = check_pinned(path, SHA256, unpinned=bool(options.get("unpinned", False)))
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
        task = _task(samples, fingerprint=sha)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not readable as JSON: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} has not the shape of locomo10.json: {type(error).__name__} {error}. {OBTAIN}"
        ) from error
    if options.get("audit", False):
        task = apply_audit(task, path.with_name("audit_errors.json"))
    return task


def parse_moment(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023` → 2023-05-08 13:56, naive. Does not depend on the locale."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None or found[5].lower() not in _MONTHS:
        raise DataError(f"session time {text!r} is not like '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    month = _MONTHS.index(found[5].lower()) + 1
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]))


def parse_evidence(strings: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Turn ids in evidence strings, unique in order, and the strings that hold none.

    `"D8:6; D9:17"` → D8:6, D9:17; `"D:11:26"` → D11:26; `"D30:05"` → D30:5; `"D"` → unreadable.
    """
    turns: dict[str, None] = {}
    unreadable = []
    for string in strings:
        found = _TURN.findall(string)
        if not found:
            unreadable.append(string)
        for session, turn in found:
            turns[f"D{int(session)}:{int(turn)}"] = None
    return tuple(turns), tuple(unreadable)


def _task(samples: list[dict[str, Any]], fingerprint: str) -> Task:
    episodes: list[Episode] = []
    questions: list[LabelledQuestion] = []
    for sample in samples:
        own = _episodes(sample)
        turns = {message.id for episode in own for message in episode.messages if message.id}
        episodes += own
        questions += [
            _question(sample["sample_id"], number, record, turns)
            for number, record in enumerate(sample["qa"])
        ]
    unusable = tuple(Exclusion(q.id, q.gold.unusable) for q in questions if q.gold.unusable)
    return Task(
        name=INFO.name,
        episodes=tuple(episodes),
        questions=tuple(questions),
        regime=INFO.regime,
        metric=INFO.metric,
        fingerprint=stable_id(INFO.name, fingerprint),
        set_apart=frozenset({ADVERSARIAL}),
        set_apart_metric="locomo_f1",
        exclusions=unusable,
        licence=LICENCE,
    )


def _episodes(sample: Mapping[str, Any]) -> list[Episode]:
    """Sessions that have turns; a date without a session (conv-26 has 16) is no episode."""
    group, conversation = sample["sample_id"], sample["conversation"]
    numbers = [
        int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)) is not None
    ]
    return [
        _episode(group, number, conversation[f"session_{number}"], moment)
        for number in sorted(numbers)
        if conversation[f"session_{number}"]
        for moment in [parse_moment(conversation[f"session_{number}_date_time"])]
    ]


def _episode(group: str, number: int, turns: list[dict[str, Any]], moment: datetime) -> Episode:
    messages = tuple(
        Message(
            text=turn["text"],
            id=f"{group}/{turn['dia_id']}",
            speaker=turn["speaker"],
            time=moment,
            caption=turn.get("blip_caption"),
        )
        for turn in turns
    )
    name = f"{group}/S{number}"
    return Episode(id=name, messages=messages, group=group, time=moment, source=name)


def _question(
    group: str, number: int, record: Mapping[str, Any], turns: set[str]
) -> LabelledQuestion:
    named, unreadable = parse_evidence(record["evidence"])
    known = tuple(f"{group}/{turn}" for turn in named if f"{group}/{turn}" in turns)
    lost = unreadable + tuple(turn for turn in named if f"{group}/{turn}" not in turns)
    category = CATEGORIES[record["category"]]
    metadata: dict[str, Any] = {"unresolved": list(lost)} if lost else {}
    answers: tuple[str, ...] = ()
    if category == ADVERSARIAL:
        metadata["trap"] = record.get("adversarial_answer")
    else:
        answers = (str(record["answer"]),)
    return LabelledQuestion(
        Question(id=f"{group}/Q{number}", text=record["question"], group=group),
        Gold(
            answers=answers,
            evidence=known,
            category=category,
            unusable=None if known else _why_unusable(lost),
            metadata=metadata,
        ),
    )


def _why_unusable(lost: tuple[str, ...]) -> str:
    if not lost:
        return "no evidence is given"
    return "evidence names no turn: " + ", ".join(repr(string) for string in lost)


INFO = BenchmarkInfo(
    name="locomo",
    description="Long conversations of two people over months: facts, dates, several hops",
    regime=Regime.OWN_GROUP,
    metric="token_f1",
    licence=LICENCE,
    obtain=OBTAIN,
    load=load,
    filename=FILENAME,
    folders=FOLDERS,
    options={
        "audit": "correct or exclude the gold that audit_errors.json shows to be wrong",
        "unpinned": "accept a file that is not the official one",
    },
)
