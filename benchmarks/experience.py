"""Can values tell memories that helped from those that did not? (ALFWorld trajectories, offline)

    python benchmarks/experience.py --data PATH/alfworld/expert_trajectories [--seeds 20]

146 won expert trajectories are divided by game, at random, into thirds: bank, training, held-out
(`--by goal`: so that no goal is in two of them; 146 games have 90 goals).
Every bank game gets a failed twin, the same goal with the actions of a lost run of the hand-coded
expert. A question is the goal of a game; it succeeds when the first memory is a won one of the
goal's type of task. Values learn from the training games, at most three passes; held-out games ask
the memory as it is then, without learning. No game is played: the reward is known from the data.
The goal's type is gold, read by the scorer alone.

Rows: nothing learned, the published rules, ours, with and without growth by distilled memories,
and a memory without failed twins, which learning must not harm.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from common import finish, note, table

from memgene.agents.offline import OfflineAgent
from memgene.core import Answer, Episode, Gold, Hit, LabelledQuestion, Message, Question
from memgene.embed.protocol import Embedder, WordVectors
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.credit.distilling import DISTILLED, SUCCESS
from memgene.engine.credit.distilling import REWARD as GOT
from memgene.engine.learned import LearnedMemory
from memgene.engine.reading import Retrieval
from memgene.evolution.coevolve.field import Field, Outcome
from memgene.evolution.coevolve.memories import FactoryMaker
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import steps_of
from memgene.evolution.coevolve.training import Training, TrainingTools
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Regime, Task

REWARD = "hit@1"
PASSES = 3
_GOAL = re.compile(r"Your task is to: (.+?)\.?\s*$", re.MULTILINE)
_COMMON = "router=false,attribution=top,explore=0.2,utility_weight=0.9,"
_PUBLISHED = _COMMON + "rule=td,conditional=false,distil=true,new_value=sources,"
_OURS = _COMMON + "memory=items,"
PLANS: Mapping[str, str] = {
    "as published": _PUBLISHED + "hops=2,link=true",
    "as published, no graph credit": _PUBLISHED + "hops=0",
    "u·(R − Q)": _OURS + "rule=gap,conditional=false",
    "used memory only": _OURS + "rule=used,conditional=false",
    "query-conditional": _OURS + "rule=used,conditional=true",
    "query-conditional, growing": _OURS + "rule=used,conditional=true,distil=true,new_value=reward",
    "query-conditional, weight 0.6": _OURS + "rule=used,conditional=true,utility_weight=0.6",
}
"""What learns, by row: all explore alike and weigh values alike. The weight 0.9 was settled for
`query-conditional` on divisions by seeds from 100 on, after 0.6 and 1.2 had been seen on seeds 0 to
19 as well, which are those reported; 0.6 is the library's default.
`as published` keeps the published residual and graph credit, over additive values."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run of an expert: `kind` is the type of task, `acted` what it did."""

    game: str
    won: bool
    goal: str
    acted: str

    @property
    def name(self) -> str:
        """`won/GAME`, or `lost/GAME` for its failed twin."""
        return f"{'won' if self.won else 'lost'}/{self.game}"

    @property
    def kind(self) -> str:
        """`pick_clean_then_place_in_recep`."""
        return kind_of(self.game)


@dataclass(frozen=True, slots=True)
class Parts:
    """Thirds by game, and the failed twins of the bank's."""

    bank: tuple[Trajectory, ...]
    twins: tuple[Trajectory, ...]
    training: tuple[Trajectory, ...]
    held_out: tuple[Trajectory, ...]


def main() -> None:
    options = _options()
    won, lost = read_trajectories(options.data)
    embedder = load_embedder("static")
    words = word_vectors()
    settings = {
        "goal text only": (False, True),
        "goal + actions": (True, True),
        "no failed twins": (True, False),
    }
    chosen = _chosen(options)
    results: dict[str, dict[str, list[float]]] = {}
    for title, (acted, twins) in settings.items():
        for seed in range(options.seeds):
            parts = divided(won, lost, seed, options.by)
            task = _task(parts, acted=acted, twins=twins, seed=seed)
            for name, text in {"nothing learned": "", **chosen}.items():
                found = _held_out(task, parts, text, embedder, words, seed, options.passes)
                results.setdefault(name, {}).setdefault(title, []).append(found)
        note(f"{title}: {options.seeds} seeds")
    table(
        f"success of the first memory, held out by {options.by}, {options.seeds} seeds, "
        f"{options.passes} passes (mean ± standard error)",
        ("learning", *settings),
        [(name, *(_cell(by[title]) for title in settings)) for name, by in results.items()],
    )
    finish(
        "experience",
        {
            "won": len(won),
            "lost": len(lost),
            "seeds": options.seeds,
            "passes": options.passes,
            "by": options.by,
            "success": {
                name: {title: _summary(found) for title, found in by.items()}
                for name, by in results.items()
            },
            "gain": {
                name: {
                    title: _summary(list(np.subtract(found, results["nothing learned"][title])))
                    for title, found in by.items()
                }
                for name, by in results.items()
                if name != "nothing learned"
            },
        },
    )


class Success(Field):
    """Scores the first memory: a won run of the goal's type, or a distilled attempt that succeeded
    at a goal of that type."""

    def __init__(self, task: Task, kinds: Mapping[str, str]) -> None:
        super().__init__(task, OfflineAgent(), REWARD)
        self._kinds = kinds

    def answered(self, labelled: LabelledQuestion, found: Retrieval) -> Outcome:
        """1 or 0; an empty memory fails."""
        shown = min(len(found.hits), found.config.context_k)
        if not found.hits:
            return Outcome(found, shown, Answer(""), 0.0)
        first, kind = found.hits[0], self._kinds[labelled.question.text]
        return Outcome(found, shown, Answer(_followed(first)), float(self._right(first, kind)))

    def _right(self, hit: Hit, kind: str) -> bool:
        if hit.metadata.get(DISTILLED):
            goal = hit.text.partition('"')[2].partition('"')[0]
            return hit.metadata[GOT] >= SUCCESS and self._kinds[goal] == kind
        assert hit.source is not None
        outcome, _, game = hit.source.partition("/")
        return outcome == "won" and kind_of(game) == kind


def _followed(hit: Hit) -> str:
    """What an agent does that follows a memory: its actions, without the goal they were for."""
    if hit.metadata.get(DISTILLED):
        return hit.text.partition('": ')[2].rpartition(" (")[0]
    return hit.text.partition(". ")[2] or "as remembered"


def _held_out(
    task: Task,
    parts: Parts,
    text: str,
    embedder: Embedder,
    words: WordVectors,
    seed: int,
    passes: int,
) -> float:
    """Success on the held-out goals after learning by a plan (empty: without any)."""
    agent = OfflineAgent()
    field = Success(task, {t.goal: t.kind for t in (*parts.training, *parts.held_out)})
    maker = FactoryMaker(embedder, words)
    plan = replace(CoevolvePlan(fit=False), cycles=passes).parsed(text)
    state = State(RetrievalConfig().changed(**plan.levers), LearnedMemory.empty())
    trained = {f"train:{t.game}" for t in parts.training}
    ask = [q for q in task.questions if q.group in trained]
    tools = TrainingTools(agent, maker, plan, REWARD, seed)
    if text:
        training = Training(tools, task, ("bank",), ask, field)
        for step in steps_of(plan, empty=False):
            state = training.take(step, state).state
    rest = [q for q in task.questions if q.group not in trained]
    return float(np.mean(Training(tools, task, ("bank",), rest, field).played(state)))


def _task(parts: Parts, *, acted: bool, twins: bool, seed: int) -> Task:
    """Bank trajectories in an order drawn by seed (ties go to the earlier), goals as questions."""
    held = [*parts.bank, *(parts.twins if twins else ())]
    random.Random(seed).shuffle(held)
    episodes = [
        Episode(
            t.name,
            (Message(f"{t.goal}. {t.acted}" if acted else t.goal),),
            "bank",
        )
        for t in held
    ]
    questions = []
    for part, some in (("train", parts.training), ("test", parts.held_out)):
        for t in some:
            right = tuple(f"won/{b.game}" for b in parts.bank if b.kind == t.kind)
            gold = Gold(evidence=right, unusable=None if right else "no such type in the bank")
            name = f"{part}:{t.game}"
            questions.append(LabelledQuestion(Question(name, t.goal, name), gold))
    return Task(
        "experience", tuple(episodes), tuple(questions), Regime.SHARED, REWARD, f"seed {seed}"
    )


def divided(
    won: Sequence[Trajectory], lost: Sequence[Trajectory], seed: int, by: str = "game"
) -> Parts:
    """Thirds of the won runs: of the games, or (`goal`) of the goals, so that no two parts have a
    goal in common; then the thirds are of unequal size."""
    rng = random.Random(seed)
    if by == "goal":
        return _by_goal(won, lost, rng)
    games = list(won)
    rng.shuffle(games)
    third = len(games) // 3
    bank = games[: len(games) - 2 * third]
    twins = [replace(t, won=False, acted=rng.choice(lost).acted) for t in bank]
    rest = games[len(bank) :]
    return Parts(tuple(bank), tuple(twins), tuple(rest[:third]), tuple(rest[third:]))


def _by_goal(won: Sequence[Trajectory], lost: Sequence[Trajectory], rng: random.Random) -> Parts:
    goals = sorted({t.goal for t in won})
    rng.shuffle(goals)
    part = {goal: place * 3 // len(goals) for place, goal in enumerate(goals)}
    bank, training, held_out = (tuple(t for t in won if part[t.goal] == n) for n in range(3))
    twins = tuple(replace(t, won=False, acted=rng.choice(lost).acted) for t in bank)
    return Parts(bank, twins, training, held_out)


def read_trajectories(folder: Path) -> tuple[list[Trajectory], list[Trajectory]]:
    """The won runs of the two planners, and the lost runs of the hand-coded expert."""
    won, lost = [], []
    for path in sorted(folder.glob("expert_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            goal = _GOAL.search(values["traj"][0][1])
            assert goal is not None, values["game"]
            acted = ". ".join(action for action, _ in values["traj"] if action)
            run = Trajectory(values["game"], values["won"], goal[1], acted)
            if "handcoded" in path.name:
                lost += [] if run.won else [run]
            elif run.won:
                won.append(run)
    return won, lost


def kind_of(game: str) -> str:
    return game.split("/")[1].partition("-")[0]


def _chosen(options: argparse.Namespace) -> dict[str, str]:
    """The rows asked for, each again at every level of attribution noise."""
    rows = {name: PLANS[name] for name in PLANS if _wanted(name, options.only)}
    levels = [level for level in options.noise.split(",") if level]
    return rows | {
        f"{name}, noise {level}": f"{plan},noise={level}"
        for name, plan in rows.items()
        for level in levels
    }


def _wanted(name: str, only: str) -> bool:
    return not only or name in only.split(";")


def _cell(found: Sequence[float]) -> str:
    summary = _summary(found)
    return f"{summary['mean']:.1f} ± {summary['standard_error']:.1f}"


def _summary(found: Sequence[float]) -> dict[str, float]:
    points = 100 * np.asarray(found)
    error = float(points.std(ddof=1) / np.sqrt(len(points))) if len(points) > 1 else 0.0
    return {"mean": round(float(points.mean()), 2), "standard_error": round(error, 2)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--by", choices=("game", "goal"), default="game", help="what is divided")
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--only", default="", help="rows of PLANS, between semicolons")
    parser.add_argument(
        "--noise", default="", help="shares of attributions turned round, between commas"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
