"""What a search for programs costs beside its models: engine time, and calls that are saved.

    python benchmarks/program_search.py
    python benchmarks/program_search.py --parts calls --data PATH

Three parts. *Evaluation*: one program on 120 episodes and 30 questions with an agent that answers
at once, in the real sandbox. *Search*: iterations of the loop with evaluations and drafts that take
no time, up to 1,000 candidates; what is written durably (journal, files) is told apart from what is
decided. *Calls*: a run with a scripted reflector whose patches are half logic-only, an agent's
steps remembered by phase, against every phase made anew (on LoCoMo).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
from common import AskingAgent, add_data_option, finish, note, read_task, table

from memgene.agents.phases import PhaseCachedAgent
from memgene.core import Budget, Episode, Gold, LabelledQuestion, Message, Question
from memgene.embed.registry import load_embedder
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.evolve import run_evolution
from memgene.evolution.guard import PairedGuard
from memgene.evolution.interrupt import Interruptible
from memgene.evolution.journal import Journal
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.drafting import Draft, DraftTask, Workshop
from memgene.evolution.programs.evaluating import Evaluation, ProgramEvaluator
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.sampling import Sample, Sampler
from memgene.evolution.programs.search import ProgramSearch, ProgramTools
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import seal
from memgene.evolution.settings import EvolveSettings
from memgene.evolution.spending import Spending
from memgene.llm.roles import RoleModels
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.programs.seeds import seed
from memgene.tasks.splits import split_task
from memgene.tasks.task import Regime, Task
from memgene.testing.llm import ScriptedLLM
from memgene.testing.reflection import scripted_patches

F1 = "token_f1"
EPISODES, QUESTIONS = 120, 30


def main() -> None:
    parser = argparse.ArgumentParser(description="engine time and calls of a program search")
    parser.add_argument("--candidates", type=int, default=1000, help="of the search part")
    parser.add_argument("--parts", default="evaluation,search", help="and calls, on LoCoMo")
    add_data_option(parser)
    options = parser.parse_args()
    parts = options.parts.split(",")
    result: dict[str, dict[str, float]] = {}
    if "evaluation" in parts:
        result["evaluation"] = _evaluation()
    if "search" in parts:
        result["search"] = _search(options.candidates)
    if "calls" in parts:
        result["calls"] = _calls(read_task("locomo", options.data))
    finish("program_search", result)


def _synthetic() -> Task:
    """Sessions of ten turns, a question on every fourth; one shared memory."""
    episodes = tuple(
        Episode(
            f"e{i}",
            tuple(
                Message(f"In week {i} we saw bird {i * 10 + j} by the river", f"m{i}.{j}", "Ana")
                for j in range(10)
            ),
            f"g{i % 12}",
        )
        for i in range(EPISODES)
    )
    questions = tuple(
        LabelledQuestion(
            Question(f"q{i}", f"What was seen in week {4 * i}?", f"asked{i % 6}"),
            Gold((f"bird {40 * i}",), (f"m{4 * i}.0",)),
        )
        for i in range(QUESTIONS)
    )
    return Task("synthetic", episodes, questions, Regime.SHARED, F1, "synthetic")


def _evaluation() -> dict[str, float]:
    task = _synthetic()
    sample = Sample(task, task.questions)
    rows, found = [], {}
    with ProgramRuntime(embedder=load_embedder("static")) as runtime:
        for name in ("empty", "vector-search", "hybrid"):
            seconds = []
            for _ in range(7):
                agent = PhaseCachedAgent(AskingAgent())
                evaluator = ProgramEvaluator(task.groups, agent, runtime, [F1])
                started = time.perf_counter()
                evaluator.evaluate(seed(name), sample, name)
                seconds.append(time.perf_counter() - started)
            found[name] = round(1000 * float(np.median(seconds)), 1)
            rows.append((name, f"{found[name]:.1f}", f"{1000 * min(seconds):.1f}"))
    table(
        f"{EPISODES} episodes, {QUESTIONS} questions, an agent that answers at once: ms",
        ("program", "median of 7", "best"),
        rows,
    )
    return found


class _Instant:
    """Evaluations and drafts that take no time."""

    name = "instant"

    def __init__(self) -> None:
        self.made = 0

    def evaluate(self, program: Program, sample: Sample, label: str) -> Evaluation:
        """A score that the program's text decides."""
        score = (hash(program.source) % 1000) / 1000
        return Evaluation(
            tuple(_case(q, score) for q in sample.questions),
            Observed(),
        )

    def draft(self, task: DraftTask) -> Draft:
        """A new program."""
        self.made += 1
        return Draft(f"NUMBER = {self.made}\n", f"number {self.made}")

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> None:
        """Nothing is broken."""


def _case(asked: LabelledQuestion, score: float) -> Case:
    return Case(
        question_id=asked.id,
        group=asked.group,
        category="all",
        question=asked.question.text,
        gold=(),
        evidence=(),
        query={},
        context="",
        shown=0,
        hits=None,
        answer="",
        abstained=False,
        rule=None,
        scores={F1: score},
    )


def _search(candidates: int) -> dict[str, float]:
    """Milliseconds an iteration, at the beginning and at the end of a long run."""
    task = _synthetic()
    task = replace(
        task,
        regime=Regime.OWN_GROUP,
        episodes=tuple(replace(e, group=f"asked{i % 6}") for i, e in enumerate(task.episodes)),
    )
    data = seal(task, split_task(task, 0), 0)[0]
    found: dict[str, float] = {}
    rows = []
    for name, durable in (("decided, nothing written", None), ("written durably", True)):
        marks = _timed_run(data, candidates, durable)
        per = np.diff(marks) * 1000
        first, last = float(np.median(per[10:110])), float(np.median(per[-100:]))
        found |= {f"{name}, first 100": round(first, 2), f"{name}, last 100": round(last, 2)}
        rows.append((name, f"{first:.2f}", f"{last:.2f}"))
    table(
        f"search overhead of an iteration, {candidates} candidates: ms (median)",
        ("writing", "iterations 10–110", "the last 100"),
        rows,
    )
    return found


def _timed_run(data: object, candidates: int, durable: bool | None) -> list[float]:
    marks: list[float] = []

    def mark(round: int, score: float | None, best: float | None) -> None:
        marks.append(time.perf_counter())

    plan = ProgramPlan(
        iterations=candidates, static_items=5, rotating_items=2, gate_items=0, finalists=0
    )
    instant = _Instant()
    with tempfile.TemporaryDirectory() as folder, _waiting(durable):  # noqa: SIM117
        with RunFolder.open(Path(folder) / "run", {}, {}) as run:
            meter = BudgetMeter(Budget())
            spending = Spending(run.journal, meter)
            recorder = Recorder(run, F1, meter, spending)
            tools = ProgramTools(
                journal=run.journal,
                candidates=ProgramCandidates(run, recorder, meter, instant),  # type: ignore[arg-type]
                meter=meter,
                spending=spending,
                sampler=Sampler(data, load_embedder("hashing"), 5, 0),  # type: ignore[arg-type]
                workshop=Workshop(instant, lambda source: (), 0, 1),
                gate=PairedGuard(supported=False),
                interrupt=Interruptible(),
                report=mark,
            )
            seeds = [("seed", Program("NUMBER = 0\n"))]
            ProgramSearch(tools, plan, seeds, F1, 0, 5, 2).run()
    return marks


def _waiting(durable: bool | None) -> ExitStack:
    """Writes as they are, or none at all (files of candidates, cases, usage, the journal)."""
    stack = ExitStack()
    if durable:
        return stack
    stack.enter_context(mock.patch("os.fsync"))
    for name in ("save_files", "save_cases", "save_usage"):
        stack.enter_context(mock.patch.object(RunFolder, name))
    stack.enter_context(mock.patch.object(Journal, "_append"))
    return stack


def _calls(task: Task) -> dict[str, float]:
    """Calls of the agent's model, steps remembered and not."""
    counts = {}
    for name, remembers in (("remembered by phase", True), ("every phase anew", False)):
        llm = ScriptedLLM(_reply, constrains=True)
        reflector = ScriptedLLM(scripted_patches(0.5))
        plan = ProgramPlan(
            static_items=25,
            rotating_items=5,
            iterations=20,
            gate_items=0,
            finalists=0,
            seeds=("vector-search",),
        )
        settings = EvolveSettings(
            strategy="program", proposer="llm", agent="llm", program=plan, harnesses=("no-memory",)
        )
        store = "memgene.evolution.programs.single.PhaseFile"
        with tempfile.TemporaryDirectory() as folder:
            forgetting = nullcontext() if remembers else mock.patch(store, _Forgetful)
            with forgetting, RoleModels.of({"task": llm, "reflector": reflector}) as models:
                result = run_evolution(task, settings, Path(folder) / "run", models=models)
            searched = _searched(Path(folder) / "run" / "journal.jsonl")
        counts[name] = searched
        note(f"{name}: {searched} calls in the search, {len(llm.requests)} in all, {result.rounds}")
    share = 100 * counts["remembered by phase"] / counts["every phase anew"]
    table(
        "calls of the agent's model in 20 iterations, half of the patches logic-only",
        ("steps", "calls"),
        [(name, str(count)) for name, count in counts.items()] + [("share", f"{share:.1f} %")],
    )
    return {**counts, "share": round(share, 1)}


def _searched(journal: Path) -> int:
    """Calls of role task before the search ended."""
    calls = 0
    for line in journal.read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "stopped":
            break
        if event["event"] == "evaluated":
            calls += int(event["usage"].get("task", {}).get("calls", 0))
    return calls


def _reply(request: object) -> str:
    """Fills what a schema asks for; answers everything else with a word."""
    schema = getattr(request, "schema", None)
    if schema is None:
        return "river"
    values = {"string": "river", "array": ["river"], "integer": 1, "number": 1.0, "boolean": True}
    fields = schema["properties"]
    return json.dumps({n: values.get(f.get("type", "string"), "river") for n, f in fields.items()})


class _Forgetful:
    """Keeps no step."""

    def __init__(self, path: Path) -> None:
        pass

    def get(self, key: str) -> None:
        """Nothing."""

    def put(self, key: str, value: str) -> None:
        """Nothing."""

    def __enter__(self) -> _Forgetful:
        return self

    def __exit__(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    main()
