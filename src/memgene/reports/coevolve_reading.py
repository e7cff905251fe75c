"""What the folder of a state tells of its learning: weights on questions, values, the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memgene.core import DataError, RunError
from memgene.engine.learned import LearnedMemory
from memgene.engine.lines import one_line
from memgene.evaluation.case import Case
from memgene.evolution.coevolve.picture import GRAPH_FILE, GraphPicture
from memgene.evolution.coevolve.state import MEMORY_FILE
from memgene.evolution.result import EVOLVED
from memgene.evolution.rundir import row_subject
from memgene.reports.coevolve_model import ALL_TYPES, Distilled, Held, Weights
from memgene.reports.recorded import candidate_file
from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.router.observation import TWO_ROUTES

_SHOWN, _TEXT = 8, 200


def compared_weights(
    before: Sequence[Case], after: Sequence[Case], routes: Sequence[str]
) -> tuple[Weights, ...]:
    """Mean weights by predicted question type, then of all, on questions that both were asked.

    Cases that tell no weights of these routes are left out; where those of `before` tell none
    because no router weighed views, its weights are uniform.
    """
    first = {case.question_id: _weights(case, routes) for case in before}
    pairs: dict[str, list[tuple[Mapping[str, float], Mapping[str, float]]]] = {}
    for case in after:
        old, new = first.get(case.question_id), _weights(case, routes)
        if case.question_id in first and old is None and tuple(routes) != TWO_ROUTES:
            old = dict.fromkeys(routes, 1 / len(routes))
        if old is not None and new is not None:
            pairs.setdefault(case.question_type, []).append((old, new))
            pairs.setdefault(ALL_TYPES, []).append((old, new))
    order = [*QUESTION_TYPES, ALL_TYPES]
    return tuple(
        Weights(
            kind,
            len(found),
            _means([old for old, _ in found], routes),
            _means([new for _, new in found], routes),
        )
        for kind, found in sorted(pairs.items(), key=lambda pair: order.index(pair[0]))
    )


def read_learned(folder: Path, state: str) -> LearnedMemory | None:
    """What the memory of a state learned; None where its file was left out.

    Raises RunError when it is damaged.
    """
    text = candidate_file(folder, state, MEMORY_FILE)
    if text is None:
        return None
    try:
        return LearnedMemory.from_jsonl(text)
    except DataError as error:
        place = folder / "candidates" / state / MEMORY_FILE
        raise RunError(f"{place} is damaged: {error}") from error


def read_held(folder: Path, state: str) -> Held | None:
    """The values and memories that a state holds."""
    learned = read_learned(folder, state)
    if learned is None:
        return None
    means = {value.unit_id: value for value in learned.values if not value.cluster}
    made = [
        Distilled(unit.id, known.q, known.exposures, one_line(unit.spoken, _TEXT))
        for unit in learned.distilled
        if (known := means.get(unit.id)) is not None
    ]
    made.sort(key=lambda each: (-each.value, -each.exposures, each.id))
    return Held(
        values=tuple(value.q for value in means.values()),
        by_kind=len(learned.values) - len(means),
        kinds=len(learned.clusters),
        distilled=len(learned.distilled),
        retired=len(learned.retired),
        best=tuple(made[:_SHOWN]),
    )


def read_picture(folder: Path, state: str) -> GraphPicture | None:
    """The graph around a question: that of the state, else that of the final report's evolved row;
    None where none was drawn. Raises RunError when the file is damaged."""
    for place in (folder / "candidates" / state, folder / row_subject(EVOLVED)):
        path = place / GRAPH_FILE
        if path.exists():
            try:
                return GraphPicture.from_json(path.read_text(encoding="utf-8"), str(path))
            except DataError as error:
                raise RunError(str(error)) from error
    return None


def _weights(case: Case, routes: Sequence[str]) -> Mapping[str, float] | None:
    told: Mapping[str, float] = case.notes.get("weights") or {}
    return told if set(told) == set(routes) else None


def _means(found: Sequence[Mapping[str, float]], routes: Sequence[str]) -> dict[str, float]:
    return {route: sum(each[route] for each in found) / len(found) for route in routes}
