"""Plans found in the experience of other tasks, laid beside the expert's own (ALFWorld, offline).

    python benchmarks/alfworld_plans.py --data PATH/alfworld/expert_trajectories

Memory holds expert trajectories, a question is the goal of a game of another task: no trajectory
of its task (object, place and room) is in memory, in folds; `--leave-out game` only keeps the same
game out. What a program reads is turned into a plan by a fixed rule (`plan_in`) and compared with
what the expert did (`plan_match`). No game is played: this measures whether memory hands over the
right procedure, not whether an agent would succeed. The trajectories are of evaluation games, so
nothing measured here may be used to choose a memory that is then tested on those games.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import cell, finish, note, points, read_program, table

from memgene.agents.offline import OfflineAgent
from memgene.core import Episode, Message, Question
from memgene.embed.registry import load_embedder
from memgene.evaluation import mean_interval, paired_difference
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.protocol import Harness
from memgene.programs.runtime import ProgramRuntime

REFERENCES = ("planner", "planonce")
"""Experts whose trajectories have no detours."""

Step = tuple[str, ...]

_OPENING = re.compile(r"Your task is to: (.+?)\.?\s*$", re.MULTILINE)
_STEP = re.compile(
    r"\b(?:"
    r"(?P<take>take) (?P<taken>[a-z]+)(?: \d+)? from [a-z]+"
    r"|(?P<change>clean|heat|cool|slice) (?P<changed>[a-z]+)(?: \d+)? with (?P<device>[a-z]+)"
    r"|(?P<put>put|move) (?!it\b|them\b)(?P<moved>[a-z]+)(?: \d+)? (?:in/on|in|on|to) "
    r"(?P<place>[a-z]+)"
    r"|(?P<use>use) (?P<used>[a-z]+)"
    r")"
)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What an expert did in one game. `task` is the game without its trial, `kind` its type."""

    game: str
    expert: str
    won: bool
    goal: str
    turns: tuple[tuple[str, str], ...]

    @property
    def task(self) -> str:
        """`pick_clean_then_place_in_recep-Bowl-None-Cabinet-10`."""
        return self.game.split("/")[1]

    @property
    def kind(self) -> str:
        """`pick_clean_then_place_in_recep`."""
        return self.task.partition("-")[0]

    @property
    def episode(self) -> Episode:
        """As it is written to memory: actions and observations in turn, and the outcome."""
        messages: list[Message] = []
        for action, seen in self.turns:
            messages += [Message(action, speaker="agent")] if action else []
            messages.append(Message(seen, speaker="environment"))
        outcome = "The task is solved." if self.won else "The task was not solved."
        messages.append(Message(outcome, speaker="environment"))
        return Episode(f"{self.expert}/{self.game}", tuple(messages), self.task)

    @property
    def steps(self) -> list[Step]:
        """Its high-level steps, with the object and the goal's place by those names."""
        return _named(_steps(action for action, _ in self.turns))


def main() -> None:
    options = _options()
    trajectories = _read(options.data)
    asked = list({t.game: t for t in trajectories if t.expert in REFERENCES and t.won}.values())
    names = options.programs.split(",")
    with ProgramRuntime(embedder=load_embedder("static")) as runtime:
        scores = {name: _scores(name, runtime, trajectories, asked, options) for name in names}
    groups = [t.task for t in asked]
    base = scores[names[0]]
    intervals = {name: mean_interval(values, groups) for name, values in scores.items()}
    paired = {name: paired_difference(scores[name], base, groups) for name in names[1:]}
    table(
        f"plan match, {len(asked)} games of {len(set(groups))} tasks, same {options.leave_out} "
        f"never in memory, {options.folds} folds",
        ("program", "all", f"− {names[0]}", *sorted({t.kind for t in asked})),
        [_row(name, intervals, paired, scores[name], asked) for name in names],
    )
    finish(
        "alfworld_plans",
        {
            "games": len(asked),
            "trajectories": len(trajectories),
            "leave_out": options.leave_out,
            "folds": options.folds,
            "seed": options.seed,
            "plan_match": {name: points(found) for name, found in intervals.items()},
            f"against {names[0]}": {
                name: {**points(found), "p": round(found.p, 5)} for name, found in paired.items()
            },
        },
    )


def plan_match(plan: Sequence[Step], expert: Sequence[Step]) -> float:
    """How far a plan is the expert's, in [0, 1]: `2·LCS / (|plan| + |expert|)`.

    LCS is the length of the longest common subsequence of high-level steps, so that a step counts
    once, in its order, and superfluous steps cost as much as missing ones. An empty plan gives 0.
    """
    longest = [0] * (len(expert) + 1)
    for step in plan:
        before = list(longest)
        for i, wanted in enumerate(expert):
            longest[i + 1] = before[i] + 1 if step == wanted else max(longest[i], before[i + 1])
    return 2 * longest[-1] / ((len(plan) + len(expert)) or 1)


def plan_in(text: str) -> list[Step]:
    """The plan that a text holds: its first demonstration, with the goal's object and place.

    A demonstration is a run of high-level actions with one object (`take … from …`, `clean|heat|
    cool|slice … with …`, `put … in …`, `use …`) that no blank line interrupts. The first that
    begins by taking something and ends by putting it or using a thing is the plan; without one,
    the first run. Its object and the place of its last `put` are replaced by the goal's, device
    names stay.
    """
    runs = [run for part in text.split("\n\n") for run in _runs(_steps([part]))]
    whole = (r for r in runs if r[0][0] == "take" and r[-1][0] in ("put", "use"))
    return _named(next(whole, runs[0] if runs else []))


def _steps(texts: Iterator[str] | list[str]) -> list[Step]:
    """High-level actions in order: `(take, object)`, `(clean, object, device)`,
    `(put, object, place)`, `(use, thing)`."""
    found: list[Step] = []
    for text in texts:
        for m in _STEP.finditer(text):
            if m["take"]:
                found.append(("take", m["taken"]))
            elif m["change"]:
                found.append((m["change"], m["changed"], m["device"]))
            elif m["put"]:
                found.append(("put", m["moved"], m["place"]))
            else:
                found.append(("use", m["used"]))
    return found


def _runs(steps: Sequence[Step]) -> list[list[Step]]:
    """Cut where another object is handled."""
    runs: list[list[Step]] = []
    handled: str | None = None
    for step in steps:
        thing = handled if step[0] == "use" else step[1]
        if not runs or (handled is not None and thing != handled):
            runs.append([])
        handled = thing
        runs[-1].append(step)
    return runs


def _named(steps: Sequence[Step]) -> list[Step]:
    """The object handled first is `object`, the place of the last `put` is `place`."""
    thing = next((s[1] for s in steps if s[0] != "use"), None)
    place = next((s[2] for s in reversed(steps) if s[0] == "put"), None)
    names = {thing: "object", place: "place"}
    return [(s[0], *(names.get(word, word) for word in s[1:])) for s in steps]


def _scores(
    name: str,
    runtime: ProgramRuntime,
    trajectories: Sequence[Trajectory],
    asked: Sequence[Trajectory],
    options: argparse.Namespace,
) -> list[float]:
    """Plan match of every game asked about, in order."""
    held_out = _folds([_kept_out(t, options.leave_out) for t in asked], options)
    factory = ProgramHarnessFactory(read_program(name), runtime, name)
    found: dict[str, float] = {}
    for fold in range(options.folds):
        note(f"{name}: fold {fold + 1} of {options.folds}")
        questions = [t for t in asked if held_out[_kept_out(t, options.leave_out)] == fold]
        out = {_kept_out(t, options.leave_out) for t in questions}
        memory = [t for t in trajectories if _kept_out(t, options.leave_out) not in out]
        harness = factory()
        try:
            found |= _asked(harness, memory, questions)
        finally:
            harness.close()
    return [found[t.game] for t in asked]


def _asked(
    harness: Harness, memory: Sequence[Trajectory], questions: Sequence[Trajectory]
) -> dict[str, float]:
    agent = OfflineAgent()
    for one in memory:
        episode = one.episode
        item = agent.extract(episode, harness.item_schema, harness.instructions.knowledge_item)
        harness.write(item, episode)
    scores: dict[str, float] = {}
    for one in questions:
        question = Question(one.game, one.goal, one.task)
        query = agent.formulate(question, harness.query_schema, harness.instructions.query)
        context = harness.read(query)
        if context.failure:
            raise SystemExit(f"{one.game}: {context.failure}")
        scores[one.game] = plan_match(plan_in(context.text), one.steps)
    return scores


def _kept_out(one: Trajectory, what: str) -> str:
    return one.task if what == "task" else one.game


def _folds(keys: Sequence[str], options: argparse.Namespace) -> Mapping[str, int]:
    """A fold for each key, seeded."""
    shuffled = sorted(set(keys))
    random.Random(options.seed).shuffle(shuffled)
    return {key: place % options.folds for place, key in enumerate(shuffled)}


def _read(folder: Path) -> list[Trajectory]:
    files = sorted(folder.glob("expert_*.jsonl"))
    if not files:
        raise SystemExit(f"no expert_*.jsonl in {folder}; name the folder with --data")
    found: list[Trajectory] = []
    for path in files:
        expert = path.stem.split("_")[1]
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            turns = tuple((action, seen) for action, seen in record["traj"])
            goal = _OPENING.search(turns[0][1])
            if goal is None:
                raise SystemExit(f"{path.name}: {record['game']} names no task")
            found.append(Trajectory(record["game"], expert, record["won"], goal[1], turns))
    return found


def _row(
    name: str,
    intervals: Mapping[str, Any],
    paired: Mapping[str, Any],
    scores: Sequence[float],
    asked: Sequence[Trajectory],
) -> tuple[str, ...]:
    kinds = sorted({t.kind for t in asked})
    means = []
    for kind in kinds:
        own = [score for score, t in zip(scores, asked, strict=True) if t.kind == kind]
        means.append(f"{100 * sum(own) / len(own):.1f} ({len(own)})")
    against = cell(paired[name], signed=True) if name in paired else ""
    return (name, cell(intervals[name]), against, *means)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--programs", default="vector-search,action-cache", help="names or files")
    parser.add_argument("--leave-out", choices=("task", "game"), default="task")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
