"""From a run folder to what its report shows. Reads files only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.evaluation.case import Case
from memgene.evolution.coevolve.events import (
    CoevolutionStarted,
    PhaseFinished,
    Retrained,
    WeightFixed,
)
from memgene.evolution.coevolve.state import MEMORY_FILE
from memgene.evolution.event import Event
from memgene.evolution.events import (
    Advised,
    Evaluated,
    Finished,
    Promoted,
    Proposed,
    Rechecked,
    Refitted,
    RunStarted,
)
from memgene.evolution.programs.events import Drafted, ProgramsStarted
from memgene.evolution.result import EVOLVED, START, add_usage
from memgene.evolution.rundir import BEST, read_run
from memgene.genome import read_config
from memgene.reports import outcome
from memgene.reports.coevolve_history import coevolve_history
from memgene.reports.config_history import GENOME, config_history
from memgene.reports.history import History, follow
from memgene.reports.joint_history import joint_history
from memgene.reports.joint_reading import read_joint
from memgene.reports.landscape_reading import run_landscape
from memgene.reports.model import Chosen, RunView, Trajectory, was_asked
from memgene.reports.numbers import signed, value
from memgene.reports.program_history import PROGRAM, program_history
from memgene.reports.recorded import first, fold_folders, read_events
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level

_PAID = (
    Advised,
    CoevolutionStarted,
    Drafted,
    Evaluated,
    PhaseFinished,
    Proposed,
    Refitted,
    Retrained,
    WeightFixed,
)


@dataclass(frozen=True, slots=True)
class _Part:
    """One journal with its search and final rows: a whole run, or one fold of it."""

    name: str
    started: RunStarted | None
    events: tuple[Event, ...]
    history: History
    test: Mapping[str, Sequence[Case]]
    val: Mapping[str, Sequence[Case]]


def load_view(folder: Path, *, pictured: bool = True) -> RunView:
    """Everything a report shows, without the landscape of programs where not `pictured`.

    Raises RunError when the folder is no run folder.
    """
    run = read_run(folder)
    settings: Mapping[str, Any] = run.get("settings", {})
    seed = int(settings.get("seed", 0))
    main = _part(folder, "run", str(settings.get("metric", "")))
    folds = [
        _part(path, path.name.replace("-", " "), str(settings.get("metric", "")))
        for path in fold_folders(folder)
    ]
    parts = folds or [main]
    started = next((p.started for p in parts if p.started), None)
    metric = started.metric if started else str(settings.get("metric", ""))
    rows = _pooled([part.test for part in parts])
    fixed, broken = outcome.examples(rows, metric)
    return RunView(
        run=folder.name,
        task=started.task if started else str(settings.get("task", "")),
        strategy=started.strategy if started else str(settings.get("strategy", "")),
        metric=metric,
        finished=first(main.events, Finished) is not None,
        rows=outcome.scores(rows, seed),
        differences=outcome.differences(rows, metric, seed),
        best_static=outcome.best_on_val([part.val for part in parts], metric),
        trajectories=tuple(_trajectory(part, metric, seed) for part in parts),
        program=_program(folder, main, folds),
        landscape=run_landscape(folder) if pictured else None,
        start=parts[0].history.start if len(parts) == 1 else "",
        categories=outcome.categories(rows, metric),
        followed=follow(parts[0].history, metric),
        fixed=fixed,
        broken=broken,
        usage=_usage([*folds, main]),
        seconds=_seconds([*folds, main]),
        evaluations=_evaluations([*folds, main]),
        best=_best(folder),
        settings=_settings(run),
        fingerprints={str(k): str(v) for k, v in run.get("data", {}).items()},
        notes=_notes(parts, folds=bool(folds)),
        search_asked=_search_asked(parts),
        caution=_caution(run),
    )


def _part(folder: Path, name: str, metric: str) -> _Part:
    events = read_events(folder)
    started = first(events, RunStarted)
    test, val = outcome.read_rows(folder, events)
    read = config_history
    if read_joint(events) is not None:
        read = joint_history
    elif first(events, ProgramsStarted) is not None:
        read = program_history
    elif first(events, CoevolutionStarted) is not None:
        read = coevolve_history
    history = read(folder, events, started.metric if started else metric)
    return _Part(name, started, events, history, test, val)


def _trajectory(part: _Part, metric: str, seed: int) -> Trajectory:
    found = outcome.scores(part.test, seed)
    history = part.history
    return Trajectory(
        name=part.name,
        wording=history.wording,
        rounds=history.rounds,
        test=found.get(EVOLVED, {}).get(metric),
        start=found.get(START, {}).get(metric),
        stopped=history.stopped,
        summary=history.summary,
        drafts=history.drafts,
        learning=history.learning,
        joint=history.joint,
    )


def _program(folder: Path, main: _Part, folds: Sequence[_Part]) -> Chosen | None:
    """The program that the run yields; of folds, the one in best/."""
    path = folder / BEST / PROGRAM
    if folds and path.exists():
        about = "It came from one of the folds and carries no claim about held-out questions."
        return Chosen("The program in best/", about, path.read_text(encoding="utf-8"))
    return main.history.chosen


def _pooled(parts: Sequence[Mapping[str, Sequence[Case]]]) -> dict[str, list[Case]]:
    """Rows that every part has, their cases one after another."""
    if not parts:
        return {}
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    return {name: [case for part in parts for case in part[name]] for name in shared}


def _search_asked(parts: Sequence[_Part]) -> bool:
    """False only where there are val cases and none of them was asked for an answer."""
    cases = [c for p in parts for found in p.history.val.values() for c in found.values()]
    return not cases or any(was_asked(case) for case in cases)


def _usage(parts: Sequence[_Part]) -> dict[str, dict[str, float]]:
    return add_usage([e.usage for p in parts for e in p.events if isinstance(e, _PAID)])


def _seconds(parts: Sequence[_Part]) -> float:
    return sum(e.seconds for p in parts for e in p.events if isinstance(e, _PAID))


def _evaluations(parts: Sequence[_Part]) -> int:
    events = [event for part in parts for event in part.events]
    asked = sum(event.questions for event in events if isinstance(event, Evaluated))
    return asked + sum(event.played for event in events if isinstance(event, PhaseFinished))


def _best(folder: Path) -> dict[str, str]:
    """Levers of the promoted configuration that differ from the default."""
    path = folder / BEST / GENOME
    if not path.exists():
        return {}
    config = read_config(path)
    changed = {
        lever: f"{value(new)} (default {value(old)})"
        for lever, (old, new) in RetrievalConfig().difference(config).items()
        if lever not in ("ranker", "router")
    }
    if config.ranker is not None:
        learned = config.ranker
        changed["learned weights"] = (
            f"{len(learned.weight)} features, fitted on {learned.questions} questions "
            f"by {learned.target.replace('_', ' ')}"
        )
    if config.router is not None:
        routes = ", ".join(config.router.routes)
        changed["router"] = f"weighs {routes} for each question ({config.router.digest})"
    if (folder / BEST / MEMORY_FILE).exists():
        changed["memory"] = f"what was learned of memories: {BEST}/{MEMORY_FILE}"
    if not changed and not (folder / BEST / PROGRAM).exists():
        return {"(nothing)": "the default configuration"}
    return changed


def _settings(run: Mapping[str, Any]) -> dict[str, str]:
    flat = dict(_flat(run.get("settings", {})))
    flat.update({f"version of {k}": str(v) for k, v in run.get("versions", {}).items()})
    if run.get("git_revision"):
        flat["git revision"] = str(run["git_revision"])
    if run.get("isolation"):
        flat["isolation of programs"] = str(run["isolation"])
    return flat


def _caution(run: Mapping[str, Any]) -> str:
    said = Level.named(str(run["isolation"])).caution if run.get("isolation") else ""
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings with those inside groups as `group.name`."""
    for name, item in values.items():
        if isinstance(item, Mapping):
            yield from _flat(item, f"{before}{name}.")
        else:
            told = ", ".join(map(str, item)) if isinstance(item, list) else str(item)
            yield f"{before}{name}", told


def _notes(parts: Sequence[_Part], folds: bool) -> tuple[str, ...]:
    """Re-checks and promotions, one line each, and what best/ is where there are folds."""
    notes = []
    if folds:
        notes.append("best/ is fitted on everything and carries no claim about held-out questions.")
    for part in parts:
        where = f"{part.name}: " if len(parts) > 1 else ""
        for event in part.events:
            if isinstance(event, Rechecked):
                kept = "kept" if event.kept else "not kept"
                notes.append(
                    f"{where}re-check of {event.candidate} on {event.questions} fresh val "
                    f"questions: {signed(event.delta)} against the start, {kept}."
                )
            elif isinstance(event, Promoted):
                notes.append(f"{where}promoted candidate {event.candidate}.")
        notes += [f"{where}{note}" for note in part.history.notes]
    return tuple(notes)
