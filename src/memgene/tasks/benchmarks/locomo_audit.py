"""The audit of LoCoMo's gold: which labels are wrong, and what is done about each kind.

The overlay (`audit_errors.json`) names 156 questions. What happens depends on its error type:

- WRONG_CITATION: the answer is right; its evidence is replaced.
- HALLUCINATION, TEMPORAL_ERROR, INCOMPLETE: answer and evidence are replaced when the correction
  is an answer; where it is prose about the question (a false premise, "cannot be determined"),
  the question is excluded.
- ATTRIBUTION_ERROR (asks about the wrong person) and AMBIGUOUS (no single true answer): excluded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from memgene.core import DataError, LabelledQuestion, stable_id
from memgene.tasks.sources import file_sha256
from memgene.tasks.task import Exclusion, Task

_QUESTION_ID = re.compile(r"locomo_(\d+)_qa(\d+)")
_CITATION = re.compile(r"\s*\([^()]*\)")
# Words that talk about the label or deny it, instead of answering the question.
_COMMENTARY = re.compile(
    r"\b(not|never|no|but|cannot|unknown|unnamed|unspecified|question|evidence|transcript)\b",
    re.IGNORECASE,
)


class Verdict(StrEnum):
    """What became of one audited question."""

    EVIDENCE = "evidence corrected"
    ANSWER = "answer corrected"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Correction:
    """One entry of the overlay, decided."""

    question_id: str
    error_type: str
    verdict: Verdict
    answer: str
    evidence: tuple[str, ...]


def apply_audit(task: Task, path: Path) -> Task:
    """The task with corrected gold; excluded questions leave it and are named in `exclusions`."""
    if not path.is_file():
        raise DataError(
            f"the audit overlay {path} is not here; put audit_errors.json beside locomo10.json "
            "or load without audit=True"
        )
    corrections = read_corrections(task, path)
    kept = []
    excluded = []
    for question in task.questions:
        correction = corrections.get(question.id)
        if correction is None:
            kept.append(question)
        elif correction.verdict is Verdict.EXCLUDED:
            excluded.append(Exclusion(question.id, f"audit: {correction.error_type}"))
        else:
            kept.append(_corrected(question, correction))
    unusable = tuple(Exclusion(q.id, q.gold.unusable) for q in kept if q.gold.unusable)
    return replace(
        task,
        questions=tuple(kept),
        exclusions=unusable + tuple(excluded),
        fingerprint=stable_id(task.fingerprint, "audit", file_sha256(path)),
    )


def read_corrections(task: Task, path: Path) -> dict[str, Correction]:
    """Corrections by question id. An entry that fits no question of the task is a DataError."""
    groups = task.groups
    texts = {q.id: q.question.text for q in task.questions}
    turns = {m.id for e in task.episodes for m in e.messages}
    corrections = {}
    try:
        for record in json.loads(path.read_text(encoding="utf-8")):
            correction = _correction(record, groups, turns)
            if texts.get(correction.question_id) != record["question"]:
                raise DataError(
                    f"{path} does not fit the data: {record['question_id']} is another question"
                )
            corrections[correction.question_id] = correction
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} is not an audit overlay: {type(error).__name__} {error}"
        ) from error
    return corrections


def _correction(
    record: Mapping[str, Any], groups: tuple[str, ...], turns: set[str | None]
) -> Correction:
    found = _QUESTION_ID.fullmatch(record["question_id"])
    if found is None or int(found[1]) >= len(groups):
        raise DataError(f"audit overlay: question_id {record['question_id']!r} is not in the data")
    group = groups[int(found[1])]
    evidence = tuple(f"{group}/{turn}" for turn in dict.fromkeys(record["correct_evidence"]))
    kind = record["error_type"]
    answer = _CITATION.sub("", record["correct_answer"]).strip(" .")
    if not evidence or not turns.issuperset(evidence):
        verdict = Verdict.EXCLUDED
    elif kind == "WRONG_CITATION":
        verdict = Verdict.EVIDENCE
    elif kind in ("ATTRIBUTION_ERROR", "AMBIGUOUS"):
        verdict = Verdict.EXCLUDED
    elif kind in ("HALLUCINATION", "TEMPORAL_ERROR", "INCOMPLETE"):
        prose = _COMMENTARY.search(record["correct_answer"])
        verdict = Verdict.EXCLUDED if prose else Verdict.ANSWER
    else:
        raise DataError(f"audit overlay: error_type {kind!r} is not known")
    return Correction(f"{group}/Q{found[2]}", kind, verdict, answer, evidence)


def _corrected(question: LabelledQuestion, correction: Correction) -> LabelledQuestion:
    gold = question.gold
    metadata = {k: v for k, v in gold.metadata.items() if k != "unresolved"}
    answers = gold.answers
    if correction.verdict is Verdict.ANSWER:
        answers = (correction.answer,)
    fixed = replace(
        gold,
        answers=answers,
        evidence=correction.evidence,
        unusable=None,
        metadata={**metadata, "audit": correction.error_type},
    )
    return replace(question, gold=fixed)
