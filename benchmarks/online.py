"""A memory that learns from `feedback` alone (ALFWorld trajectories, offline).

    python benchmarks/online.py --data PATH/alfworld/expert_trajectories

The bank holds the trajectories of `experience.py`, won and failed twins. Each interaction asks for
a training goal drawn at random, takes the first memory, and rewards it: 1 with a chance of 0.9 when
it is a won one of the goal's type, 0.2 when it is not. Told is the share of right first memories,
in blocks, beside a memory that is never given feedback; then on the goals of held-out games, some
of which stand among the training goals word for word (`--by goal`: none does). At the end `undo`
takes everything back, and the bank's tables are compared with what they were, byte for byte.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from common import Latency, finish, note, table, timed
from experience import Parts, Trajectory, divided, kind_of, read_trajectories

import memgene

BLOCK = 50
HONEST, LUCKY = 0.9, 0.2
_APART = ("history", "lessons", "sqlite_sequence")
"""Tables that tell what happened, and only grow. (Shadow tables of the text index are compared by
what a search finds.)"""


def main() -> None:
    options = _options()
    won, lost = read_trajectories(options.data)
    curves: list[np.ndarray] = []
    held: list[tuple[float, float]] = []
    taken: list[float] = []
    restored = []
    with TemporaryDirectory() as folder:
        for seed in range(options.seeds):
            parts = divided(won, lost, seed, options.by)
            path = Path(folder) / f"{seed}.db"
            curve, after, seconds, same = _learned(path, parts, options, seed)
            curves.append(curve)
            held.append(after)
            taken += seconds
            restored.append(same)
            note(f"seed {seed}: {_mean(curve, 0)} against {_mean(curve, 1)}")
    blocks = np.mean(curves, axis=0)
    table(
        f"right first memories, blocks of {BLOCK}, reward {HONEST}/{LUCKY}, {options.seeds} seeds",
        ("interactions", "learning", "frozen"),
        [
            (f"{BLOCK * at + 1}–{BLOCK * (at + 1)}", f"{100 * mine:.1f}", f"{100 * still:.1f}")
            for at, (mine, still) in enumerate(blocks)
        ],
    )
    gain = 100 * np.array([curve[:, 0].mean() - curve[:, 1].mean() for curve in curves])
    late = 100 * np.array([curve[-1, 0] - curve[-1, 1] for curve in curves])
    unseen = 100 * np.array([mine - still for mine, still in held])
    finish(
        "online",
        {
            "interactions": options.interactions,
            "seeds": options.seeds,
            "by": options.by,
            "gain": _summary(gain),
            "gain_of_the_last_block": _summary(late),
            "held_out": {
                "learned": _summary(100 * np.array([mine for mine, _ in held])),
                "frozen": _summary(100 * np.array([still for _, still in held])),
                "gain": _summary(unseen),
            },
            "feedback": Latency.of(taken).to_json(),
            "restored": all(restored),
        },
    )


def _learned(
    path: Path, parts: Parts, options: argparse.Namespace, seed: int
) -> tuple[np.ndarray, tuple[float, float], list[float], bool]:
    """Right first memories by block, learning and frozen; the same on held-out goals; seconds of
    each feedback; whether undo restored the bank."""
    rng = random.Random(f"{seed}:online")
    marks: list[tuple[bool, bool]] = []
    seconds = []
    with memgene.Memory(path) as memory, memgene.Memory() as frozen:
        for one in (memory, frozen):
            for trajectory in _shuffled(parts, seed):
                one.add(_text(trajectory, options), source=trajectory.name)
        before = _tables(path)
        for _ in range(options.interactions):
            goal = rng.choice(parts.training)
            found = memory.search(goal.goal, limit=1)
            right = _right(found[0].source, goal)
            marks.append((right, _right(frozen.search(goal.goal, limit=1)[0].source, goal)))
            reward = float(rng.random() < (HONEST if right else LUCKY))
            with timed() as watch:
                memory.feedback(found[0], reward, query=goal.goal)
            seconds.append(watch.seconds)
        after = (_rate(memory, parts.held_out), _rate(frozen, parts.held_out))
        memory.undo(all=True)
        same = _tables(path) == before and not memory.verify().results
        asked = [goal.goal for goal in parts.held_out]
        same &= all(_ranking(memory, goal) == _ranking(frozen, goal) for goal in asked)
    blocks = np.array(marks, float).reshape(-1, BLOCK, 2).mean(axis=1)
    return blocks, after, seconds, same


def _tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, by table."""
    with sqlite3.connect(path) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
            if name not in _APART and not name.startswith(("words", "grams", "gram_places"))
        ]
        rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    connection.close()
    return rows


def _ranking(memory: memgene.Memory, goal: str) -> list[tuple[str, float]]:
    return [(hit.text, hit.score) for hit in memory.search(goal)]


def _rate(memory: memgene.Memory, goals: Sequence[Trajectory]) -> float:
    right = [_right(memory.search(goal.goal, limit=1)[0].source, goal) for goal in goals]
    return float(np.mean(right))


def _right(source: str | None, goal: Trajectory) -> bool:
    assert source is not None
    outcome, _, game = source.partition("/")
    return outcome == "won" and kind_of(game) == goal.kind


def _text(trajectory: Trajectory, options: argparse.Namespace) -> str:
    return f"{trajectory.goal}. {trajectory.acted}" if options.actions else trajectory.goal


def _shuffled(parts: Parts, seed: int) -> list[Trajectory]:
    held = [*parts.bank, *parts.twins]
    random.Random(seed).shuffle(held)
    return held


def _mean(curve: np.ndarray, column: int) -> str:
    return f"{100 * curve[:, column].mean():.1f}"


def _summary(points: np.ndarray) -> dict[str, float]:
    error = float(points.std(ddof=1) / np.sqrt(len(points))) if len(points) > 1 else 0.0
    return {"mean": round(float(points.mean()), 2), "standard_error": round(error, 2)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--interactions", type=int, default=500, help=f"a multiple of {BLOCK}")
    parser.add_argument("--by", choices=("game", "goal"), default="game", help="what is divided")
    parser.add_argument("--actions", action="store_true", help="memories hold the actions, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
