"""Is what is deployed what was measured? A genome in an evaluation, and as `Memory` elsewhere.

    python benchmarks/served.py locomo --data PATH --genome RUN/best --split test

Two processes, each with hash randomisation of its own, remember the same episodes and are asked
the same questions: one through the harness that evaluations use, one through `memgene.Memory` over
a file, which it closes and opens again before the first question. Lines, order, scores (to the last
bit) and contexts must be the same; the digests of all of it are printed, and the questions that
differ are named. Exit code 1 where some do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from common import add_data_option, finish, note, read_task, table

import memgene
from memgene.agents.registry import make_agent
from memgene.api.evaluating import split_of
from memgene.core import Episode, Hit, LabelledQuestion
from memgene.evaluation.memories import LazyMemory
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.roles import RoleModels
from memgene.settings import load_settings
from memgene.tasks.task import Regime, Task

SIDES = {"evaluation": "1", "memory": "2"}
"""How a genome is asked, and the seed of that process's hashes."""
HITS = 50

Answers = dict[str, str]
"""Digest of what was recalled, by question."""


def main() -> int:
    options = _options()
    if options.side:
        found = {"evaluation": evaluated, "memory": served}[options.side](_task(options), options)
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    sides = {side: _elsewhere(side, seed) for side, seed in SIDES.items()}
    first, second = sides["evaluation"], sides["memory"]
    differ = [asked for asked in first if first[asked] != second.get(asked)]
    digests = {side: _digest(sorted(found.items())) for side, found in sides.items()}
    title = f"{options.genome} on {options.task} ({options.split})"
    rows = [[side, str(len(sides[side])), digest] for side, digest in digests.items()]
    table(title, ("", "questions", "digest"), rows)
    if differ:
        note(f"{len(differ)} questions differ, among them {', '.join(differ[:5])}")
    finish(
        "served",
        {
            "task": options.task,
            "split": options.split,
            "questions": len(first),
            "differ": len(differ),
            "digests": digests,
        },
    )
    return 1 if differ or first.keys() != second.keys() else 0


def evaluated(task: Task, options: argparse.Namespace) -> Answers:
    """As an evaluation reads: `genome:PATH` by its harness."""
    settings, found = load_settings(), Answers()
    with RoleModels(settings.llm) as llms, LoadedModels(llms, sandbox=settings.sandbox) as models:
        factory = make_factory(f"genome:{options.genome}", models=models)
        agent = make_agent(settings.agent, llms)
        for episodes, questions in _memories(task):
            memory = LazyMemory(factory, agent, tuple(episodes), len(questions), None)
            harness = memory.harness()
            told = harness.instructions.query
            for turn, asked in enumerate(questions):
                query = agent.formulate(asked.question, harness.query_schema, told)
                context = harness.read(query)
                hits = None if context.hits is None else [*map(_of_hit, context.hits[:HITS])]
                found[asked.question.id] = _digest([context.text, hits])
                memory.release(turn)
    return found


def served(task: Task, options: argparse.Namespace) -> Answers:
    """As an agent reads: `Memory` with the genome, over a file."""
    found = Answers()
    for episodes, questions in _memories(task):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.db"
            with memgene.Memory(path, genome=options.genome) as memory:
                for episode in episodes:
                    memory.add(episode)
            with memgene.Memory(path, genome=options.genome) as memory:
                for asked in questions:
                    result = memory.search(asked.question.text, limit=HITS)
                    hits: list[list[str]] | None = [[hit.line, hit.score.hex()] for hit in result]
                    if any(hit.id.startswith("program:") for hit in result):
                        hits = None  # a text of the program's own, which is no ranking
                    found[asked.question.id] = _digest([result.context, hits])
    return found


def _memories(task: Task) -> Iterator[tuple[Sequence[Episode], Sequence[LabelledQuestion]]]:
    """The episodes of each memory, and who asks it."""
    if task.regime is Regime.SHARED:
        yield task.episodes, task.questions
        return
    for group in dict.fromkeys(asked.group for asked in task.questions):
        yield (
            [episode for episode in task.episodes if episode.group == group],
            [asked for asked in task.questions if asked.group == group],
        )


def _of_hit(hit: Hit) -> list[str]:
    return [hit.rendered or hit.text, hit.score.hex()]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]


def _task(options: argparse.Namespace) -> Task:
    return split_of(read_task(options.task, options.data), options.split, 0, options.limit)


def _elsewhere(side: str, seed: str) -> Mapping[str, str]:
    """What a process of its own finds."""
    note(f"{side} …")
    done = subprocess.run(
        [sys.executable, __file__, *sys.argv[1:], "--side", side],
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: Answers = json.loads(done.stdout.splitlines()[-1])
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task")
    add_data_option(parser)
    parser.add_argument("--genome", required=True, metavar="PATH")
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", type=int, metavar="N")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
