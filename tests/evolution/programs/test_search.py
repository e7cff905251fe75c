"""The loop of M* §5 with scripted programs: who is drawn, refused, mended, taken in, promoted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, BudgetExhaustedError, InputError, LabelledQuestion, RunError
from memgene.embed.hashing import HashingEmbedder
from memgene.evaluation.case import Case
from memgene.evaluation.records import read_cases
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.guard import PairedGuard
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.drafting import Draft, DraftTask, Workshop
from memgene.evolution.programs.evaluating import Evaluation
from memgene.evolution.programs.observed import Broken, Observed
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.sampling import Sample, Sampler
from memgene.evolution.programs.search import ProgramOutcome, ProgramSearch, ProgramTools
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import seal
from memgene.evolution.spending import Spending
from memgene.programs.gates.finding import Finding
from memgene.programs.program import Program
from memgene.tasks.splits import split_task
from memgene.testing import tiny_task

F1 = "token_f1"
DATA = seal(tiny_task(), split_task(tiny_task(), 0), 0)[0]
PLAN = ProgramPlan(
    iterations=3, static_items=4, rotating_items=2, gate_items=0, finalists=0, repairs=2
)


def source(score: float, note: str = "") -> str:
    """A program that scores this much on every question; `breaks` and `bad` are what they say."""
    return f"SCORE = {score}\nNOTE = {note!r}\n"


def score_of(text: str) -> float:
    found = re.match(r"SCORE = ([\d.]+)", text)
    assert found is not None
    return float(found[1])


@dataclass
class Evaluator:
    """Scores programs by what they say of themselves."""

    asked: list[tuple[str, int]] = field(default_factory=list)
    stops_after: int | None = None
    without_metric: frozenset[str] = frozenset()

    def evaluate(self, program: Program, sample: Sample, label: str) -> Evaluation:
        if self.stops_after is not None and len(self.asked) >= self.stops_after:
            raise KeyboardInterrupt
        self.asked.append((label, len(sample.questions)))
        late = "late" in program.source and label.endswith("gate")
        breaks = "breaks" in program.source and not late
        score = 0.0 if breaks else score_of(program.source)
        cases = tuple(self._case(score, q, breaks) for q in sample.questions)
        words = sample.questions[0].question.text
        trace = f'  File "program.py", line 2, in read\n    {words}\nKeyError: {words!r}\n'
        broken = (Broken("read", "raised", f"KeyError: {words!r}", trace, len(cases)),)
        return Evaluation(cases, Observed(broken if breaks else ()))

    def _case(self, score: float, asked: LabelledQuestion, breaks: bool) -> Case:
        return Case(
            question_id=asked.id,
            group=asked.group,
            category="all",
            question=asked.question.text,
            gold=("gold",),
            evidence=(),
            query={},
            context="",
            shown=0,
            hits=None,
            answer="",
            abstained=False,
            rule=None,
            scores={} if asked.id in self.without_metric else {F1: score},
            failure="read: KeyError" if breaks else None,
        )


@dataclass
class Drafter:
    """Hands out sources in turn; mends what is bad by what `mended` holds."""

    sources: Sequence[str | BaseException]
    mended: Sequence[str] = ()
    tasks: list[DraftTask] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    name: str = "scripted"

    def draft(self, task: DraftTask) -> Draft:
        self.tasks.append(task)
        said = self.sources[(task.iteration - 1) * 2 % len(self.sources) + task.place]
        if isinstance(said, BaseException):
            raise said
        if not said:
            return Draft("", "none", refused="no idea")
        return Draft(said, f"title {task.iteration}", "because", "## user\n\nplease\n")

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> Draft | None:
        self.findings.append(findings)
        if len(self.findings) > len(self.mended):
            return None
        return Draft(self.mended[len(self.findings) - 1], "mended")


def gates(text: str) -> tuple[Finding, ...]:
    return (Finding("static", "bad", "it is bad"),) if "bad" in text else ()


Run = Callable[..., ProgramOutcome]


@dataclass
class World:
    """One run folder and what was done in it."""

    path: Path
    evaluator: Evaluator = field(default_factory=Evaluator)
    meter: BudgetMeter = field(default_factory=lambda: BudgetMeter(Budget()))
    interrupt: Interruptible = field(default_factory=Interruptible)

    def run(
        self,
        drafter: Drafter | Prolific,
        plan: ProgramPlan = PLAN,
        seeds: Sequence[float | str] = (0.2, 0.4),
        budget: Budget | None = None,
    ) -> ProgramOutcome:
        self.meter = BudgetMeter(budget or Budget())
        with RunFolder.open(self.path, {}, {}, resume=self.path.exists()) as run:
            spending = Spending(run.journal, self.meter)
            recorder = Recorder(run, F1, self.meter, spending)
            tools = ProgramTools(
                journal=run.journal,
                candidates=ProgramCandidates(run, recorder, self.meter, self.evaluator),  # type: ignore[arg-type]
                meter=self.meter,
                spending=spending,
                sampler=Sampler(DATA, HashingEmbedder(), 5, 0),
                workshop=Workshop(drafter, gates, plan.repairs, plan.parents * plan.children),
                gate=PairedGuard(supported=False),
                interrupt=self.interrupt,
            )
            texts = [s if isinstance(s, str) else source(s, f"{i}") for i, s in enumerate(seeds)]
            named = [(f"seed {i}", Program(text)) for i, text in enumerate(texts)]
            return ProgramSearch(tools, plan, named, F1, 0, 4, 2).run()

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        lines = (self.path / "journal.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in lines]
        return [e for e in told if kind is None or e["event"] == kind]

    def cases(self, name: str) -> list[Case]:
        return read_cases(self.path / "candidates" / name / "cases.jsonl")

    def plain(self) -> list[dict[str, Any]]:
        """The journal without clocks and marks of a session."""
        drop = {"time", "seconds", "seq"}
        return [
            {k: v for k, v in event.items() if k not in drop}
            for event in self.events()
            if event["event"] not in ("resumed", "interrupted")
        ]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "run")


def improving() -> Drafter:
    return Drafter([source(0.5, "a"), "", source(0.6, "b"), "", source(0.3, "c"), ""])


def test_children_join_and_the_best_is_promoted(world: World) -> None:
    found = world.run(improving())
    assert (found.promoted.id, found.promoted.score) == ("003", 0.6)
    assert found.promoted.title == "title 2"
    assert [seed.title for seed in found.seeds] == ["seed 0", "seed 1"]
    assert (found.start.id, found.start.score) == ("001", 0.4)
    assert (found.rounds, found.stopped) == (3, "rounds")
    joined = [(e["candidate"], e["score"]) for e in world.events("joined")]
    assert joined == [("000", 0.2), ("001", 0.4), ("002", 0.5), ("003", 0.6), ("004", 0.3)]
    assert world.events("joined")[-1]["regressed"]
    assert world.evaluator.asked[0] == ("000 static", 4)
    assert ("rotating/001-0 dev", 2) in world.evaluator.asked


def test_a_candidate_has_its_program_message_patch_and_reflection(world: World) -> None:
    world.run(improving())
    folder = world.path / "candidates" / "002"
    assert (folder / "program.py").read_text() == source(0.5, "a")
    told = (folder / "message.md").read_text()
    assert "by scripted: title 1" in told
    assert "because" in told
    assert "+SCORE = 0.5" in (folder / "patch.diff").read_text()
    assert (folder / "reflection.md").read_text() == "## user\n\nplease\n"


def test_reflection_sees_dev_questions_only_and_the_static_ones_never_change(world: World) -> None:
    drafter = improving()
    world.run(drafter)
    dev = {q.id for q in DATA.dev}
    assert len(drafter.tasks) == 3
    assert all({c.question_id for c in task.cases} <= dev for task in drafter.tasks)
    started = world.events("programs_started")[0]
    assert (started["static"], started["rotating"]) == (4, 2)


def test_what_the_gates_refuse_is_mended_in_k_tries_or_discarded(world: World) -> None:
    drafter = Drafter(
        [source(0.5, "bad"), "", source(0.6, "bad too"), "", source(0.7, "bad again"), ""],
        mended=[source(0.5, "still bad"), source(0.55, "good"), source(0.6, "bad")],
    )
    world.run(drafter)
    drafted = world.events("drafted")[2:]
    assert [(e["candidate"], e["attempts"], bool(e["refused"])) for e in drafted] == [
        ("002", 3, False),
        ("003", 2, True),
        ("004", 1, True),
    ]
    assert drafter.findings[0] == "static/bad: it is bad"
    refused = [(e["candidate"], e["stage"]) for e in world.events("refused")]
    assert refused == [("003", "draft"), ("004", "draft")]
    assert "the gates refuse it: static/bad: it is bad" in world.events("refused")[0]["reason"]


def test_a_program_that_is_there_already_is_not_evaluated(world: World) -> None:
    drafter = Drafter(
        ["# a word\n" + source(0.4, "1"), "", source(0.5, "a"), "", source(0.5, "a"), ""]
    )
    world.run(drafter)
    reasons = [(e["candidate"], e["stage"], e["reason"]) for e in world.events("refused")]
    assert reasons == [
        ("002", "duplicate", "the same program as 001"),
        ("004", "duplicate", "the same program as 003"),
    ]
    assert not any(label.startswith("002") for label, _ in world.evaluator.asked)


def test_the_paired_gate_stops_what_is_surely_worse_before_the_full_price(world: World) -> None:
    plan = replace(PLAN, gate_items=2)
    world.run(Drafter([source(0.1, "worse"), "", source(0.9, "better"), "", "", ""]), plan, (0.4,))
    (refused, *_) = world.events("refused")
    assert (refused["candidate"], refused["stage"]) == ("001", "gate")
    assert "its parent is better on 2 paired questions" in refused["reason"]
    asked = dict(world.evaluator.asked)
    assert asked["001 gate"] == 2
    assert "001 static" not in asked
    assert asked["002 static"] == 4


def test_published_recovery_mends_what_breaks_at_work(world: World) -> None:
    plan = replace(PLAN, mend_violations=True)
    drafter = Drafter(
        [source(0.5, "breaks"), "", source(0.6, "breaks"), "", "", ""],
        mended=[source(0.5, "mended")],
    )
    found = world.run(drafter, plan)
    assert found.promoted.id == "002.1"
    assert drafter.findings[0] == "4 times in read: it raised KeyError\n  line 2: NOTE = 'breaks'"
    stages = [(e["candidate"], e["stage"]) for e in world.events("refused")]
    assert ("003", "runtime") in stages


def test_words_of_val_questions_reach_neither_the_repair_nor_the_lineage(world: World) -> None:
    plan = replace(PLAN, mend_violations=True, repairs=1)
    drafter = Drafter(
        [source(0.5, "breaks"), "", source(0.6, "fine"), "", "", ""],
        mended=[source(0.5, "breaks again")],
    )
    world.run(drafter, plan)
    asked = {case.question for case in world.cases("002")}
    assert asked <= {q.question.text for q in DATA.val}
    (refused, *_) = world.events("refused")
    assert refused["reason"] == "it still breaks at work: 4 times in read: it raised KeyError"
    told = [*drafter.findings, (world.path / "journal.jsonl").read_text()]
    told += [str(task.lineage.around(task.parent.id)) for task in drafter.tasks]
    for text in told:
        assert not any(question in text for question in asked)


def test_the_budget_of_questions_holds_for_mending_too(world: World) -> None:
    plan = replace(PLAN, mend_violations=True)
    drafter = Drafter([source(0.5, "breaks"), "", "", "", "", ""], mended=[source(0.5, "mended")])
    budget = Budget(questions=2 * 4 + 2 + 4 + 3)  # one short of a second try
    found = world.run(drafter, plan, budget=budget)
    assert found.stopped == "budget"
    assert world.meter.questions == 14
    assert "the next step needs 4" in world.events("stopped")[0]["detail"]
    again = world.run(Drafter([AssertionError("asked again")]), plan, budget=budget)
    assert again.stopped == "budget"


def test_the_budget_of_questions_covers_the_gate(world: World) -> None:
    plan = replace(PLAN, gate_items=2)
    found = world.run(improving(), plan, budget=Budget(questions=2 * 4 + 2 + 4 + 2 + 7))
    assert (found.rounds, world.meter.questions) == (1, 16)
    with pytest.raises(InputError, match="the next step needs 16"):
        World(world.path.parent / "other").run(improving(), plan, budget=Budget(questions=15))


def test_questions_without_the_metric_are_no_gate_and_no_final_check(world: World) -> None:
    static = Sampler(DATA, HashingEmbedder(), 5, 0).static(4).questions
    world.evaluator.without_metric = frozenset(q.id for q in (*static[1:], *DATA.fresh))
    found = world.run(improving(), replace(PLAN, gate_items=2, finalists=2))
    assert found.promoted.id == "003"
    assert not any(label.endswith("gate") for label, _ in world.evaluator.asked)
    assert world.events("rechecked") == []


def test_without_it_a_program_that_breaks_scores_zero_and_stays(world: World) -> None:
    world.run(Drafter([source(0.5, "breaks"), "", "", "", "", ""]))
    joined = world.events("joined")[2]
    assert (joined["candidate"], joined["score"], joined["failures"]) == ("002", 0.0, 4)


def test_several_parents_and_children_are_committed_in_order(world: World) -> None:
    plan = replace(PLAN, iterations=1, parents=2, children=2)
    sources = [source(0.5, "a"), source(0.6, "b"), source(0.7, "c"), source(0.3, "d")]
    drafter = Drafter(sources)
    world.run(drafter, plan)
    assert [e["slot"] for e in world.events("sampled")] == [0, 1]
    assert [e["candidate"] for e in world.events("joined")][2:] == ["002", "003", "004", "005"]
    assert [e["score"] for e in world.events("joined")][2:] == [0.5, 0.6, 0.7, 0.3]
    assert len({task.seed for task in drafter.tasks}) == 4


def test_finalists_are_asked_fresh_questions_before_one_is_named(world: World) -> None:
    found = world.run(improving(), replace(PLAN, finalists=2))
    asked = [label for label, _ in world.evaluator.asked if label.endswith("fresh")]
    assert asked == ["001 fresh", "003 fresh", "002 fresh"]
    assert found.promoted.id == "003"
    assert [e["candidate"] for e in world.events("rechecked")] == ["003", "002"]


def test_drafts_are_kept_as_they_land(world: World) -> None:
    plan = replace(PLAN, iterations=1, children=3)
    texts = [source(0.5, "a"), source(0.6, "b"), KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        world.run(Drafter(texts), plan)
    assert [e["candidate"] for e in world.events("drafted")] == ["000", "001", "002", "003"]
    rest = Drafter([AssertionError("asked again"), AssertionError("again"), source(0.7, "c")])
    found = world.run(rest, plan)
    assert [task.place for task in rest.tasks] == [2]
    assert found.promoted.id == "004"


def test_line_ends_of_a_program_survive_a_resume(world: World) -> None:
    drafter = Drafter([source(0.5, "a").replace("\n", "\r\n"), "", "", "", "", ""])
    whole = world.run(drafter)
    assert world.run(Drafter([])).promoted.program == whole.promoted.program
    assert whole.promoted.program.source.count("\r\n") == 2


def test_a_record_that_is_gone_is_named(world: World) -> None:
    world.run(improving())
    (world.path / "rotating" / "001-0" / "dev.json").unlink()
    with pytest.raises(RunError, match=r"dev\.json is gone"):
        world.run(improving())


@pytest.mark.parametrize("after", [1, 3, 5, 7])
def test_a_run_that_was_killed_goes_on_to_the_same_journal(
    world: World, tmp_path: Path, after: int
) -> None:
    whole = World(tmp_path / "whole")
    whole.run(improving(), replace(PLAN, finalists=2))
    world.evaluator.stops_after = after
    with pytest.raises(KeyboardInterrupt):
        world.run(improving(), replace(PLAN, finalists=2))
    world.evaluator.stops_after = None
    drafter = improving()
    world.run(drafter, replace(PLAN, finalists=2))
    assert world.plain() == whole.plain()
    # nothing was evaluated or drafted twice
    labels = [label for label, _ in world.evaluator.asked]
    assert sorted(labels) == sorted(set(labels))


class Prolific:
    """Writes by place and iteration alone: good ones, bad ones, some that break and are mended."""

    name = "prolific"

    def draft(self, task: DraftTask) -> Draft:
        note = f"{task.iteration}/{task.place}" + (" breaks late" if task.place == 1 else "")
        score = (0.1, 0.9, 0.6, 0.4)[task.place] + task.iteration / 100
        return Draft(source(score, note), f"title {note}", "why", f"asked for {note}")

    def repair(self, task: DraftTask, broken: Draft, findings: str, tries: int) -> Draft:
        good = task.iteration == 2
        note = f"mended {task.iteration}" + ("" if good else " breaks late")
        return Draft(source(0.55, note), "mended", findings)


@pytest.mark.parametrize("after", range(2, 20, 3))
def test_a_killed_run_with_every_stage_goes_on_to_the_same_journal(
    world: World, tmp_path: Path, after: int
) -> None:
    plan = replace(
        PLAN, parents=2, children=2, iterations=2, gate_items=2, mend_violations=True, finalists=2
    )
    whole = World(tmp_path / "whole")
    whole.run(Prolific(), plan)
    stages = {(e["event"], e.get("stage", "")) for e in whole.events()}
    assert {("refused", "gate"), ("refused", "runtime"), ("joined", "")} <= stages
    assert any("." in e["candidate"] for e in whole.events("joined"))
    assert after < len(whole.evaluator.asked)
    world.evaluator.stops_after = after
    with pytest.raises(KeyboardInterrupt):
        world.run(Prolific(), plan)
    world.evaluator.stops_after = None
    world.run(Prolific(), plan)
    assert world.plain() == whole.plain()
    labels = [label for label, _ in world.evaluator.asked]
    assert sorted(labels) == sorted(set(labels))


def test_a_stop_that_is_asked_for_ends_the_iteration_and_can_be_taken_up(world: World) -> None:
    world.interrupt.request()
    with pytest.raises(RunInterruptedError, match="stopped after iteration 1"):
        world.run(improving())
    world.interrupt = Interruptible()
    assert world.run(improving()).promoted.id == "003"


def test_budgets_end_the_search_and_say_so(world: World) -> None:
    found = world.run(improving(), budget=Budget(questions=2 * 4 + 2 + 4))
    assert (found.rounds, found.stopped) == (1, "budget")
    assert "questions: 14 of 14 used" in world.events("stopped")[0]["detail"]


def test_a_budget_for_nothing_is_refused_at_once(world: World) -> None:
    with pytest.raises(InputError, match="does not cover the seeds and one child"):
        world.run(improving(), budget=Budget(questions=9))


def test_a_budget_that_ends_while_drafting_ends_the_search(world: World) -> None:
    found = world.run(Drafter([source(0.5, "a"), "", BudgetExhaustedError("calls"), "", "", ""]))
    assert (found.rounds, found.stopped) == (1, "budget")
    again = world.run(Drafter([AssertionError("asked again")]))
    assert (again.rounds, again.stopped) == (1, "budget")


def test_seeds_that_the_gates_refuse_are_left_out(world: World) -> None:
    found = world.run(improving(), seeds=(source(0.9, "bad"), 0.4))
    assert [seed.id for seed in found.seeds] == ["001"]
    assert world.events("refused")[0]["candidate"] == "000"


def test_a_run_without_any_seed_is_refused(world: World) -> None:
    with pytest.raises(InputError, match="none of the seed programs passes"):
        world.run(improving(), seeds=(source(0.9, "bad"),))


def test_seeds_that_break_on_every_question_end_the_run(world: World) -> None:
    with pytest.raises(RunError, match="no seed program gets a single answer"):
        world.run(improving(), seeds=(source(0.9, "breaks"), source(0.8, "breaks")))
