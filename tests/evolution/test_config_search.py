"""The search loop over a synthetic task whose score is a known function of the levers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from memgene.core import Budget, InputError
from memgene.evolution.changes import change
from memgene.evolution.diagnosis import Diagnosis
from memgene.evolution.event import Event
from memgene.evolution.events import (
    Accepted,
    Diagnosed,
    Evaluated,
    Explored,
    Promoted,
    Proposed,
    Rechecked,
    Reverted,
    Stopped,
)
from memgene.evolution.guard import BestSoFar
from memgene.evolution.interrupt import RunInterruptedError
from memgene.evolution.journal import read_journal
from memgene.evolution.preset import PRESETS
from memgene.evolution.proposers import Attempt, Proposal, RandomProposer
from memgene.retrieval.config import RetrievalConfig

PAPER = PRESETS["paper"]


def learnable(config: RetrievalConfig) -> float:
    """0.5, better with the learned fusion, a bonus for neighbours and a wider window."""
    return (
        0.5
        + 0.2 * (config.fusion == "learned")
        + 0.1 * (config.neighbour_bonus > 0)
        + 0.05 * (config.window == 2)
    )


def flat(config: RetrievalConfig) -> float:
    """Nothing helps."""
    return 0.5


def events(path: Path, kind: type[Event]) -> list[Any]:
    return [e.event for e in read_journal(path / "journal.jsonl") if isinstance(e.event, kind)]


def lines(path: Path) -> list[dict[str, Any]]:
    """The journal without what may differ between equal runs."""
    entries = read_journal(path / "journal.jsonl")
    plain = [entry.event.to_dict() for entry in entries if entry.event.replayed]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in plain]


@dataclass
class Scripted:
    """Proposes the given levers one after another, then nothing."""

    script: Sequence[dict[str, Any]]
    name: str = "scripted"
    seen: list[RetrievalConfig] = field(default_factory=list)

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        self.seen.append(incumbent)
        place = len(self.seen) - 1
        if place >= len(self.script):
            return None
        changes = tuple(change(incumbent, n, v) for n, v in self.script[place].items())
        return Proposal(changes, "as scripted")


def test_rules_find_what_helps(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", learnable, rounds=10)
    found = made.search()
    assert found.promoted.config.fusion == "learned"
    assert found.promoted.config.ranker is not None
    assert found.promoted.config.ranker.questions == 60
    assert found.promoted.config.neighbour_bonus > 0
    assert found.promoted.config.window == 2
    assert found.promoted.score == pytest.approx(0.85)
    assert [c.id for c in found.lineage][:2] == ["000", "001"]
    assert found.parent is found.lineage[found.lineage.index(found.promoted) - 1]


def test_the_random_proposer_finds_some_of_it_too(
    tmp_path: Path, world: Any, all_needs: Any
) -> None:
    made = world(
        tmp_path / "run",
        lambda c: 0.5 + 0.3 * (c.window > 1) + 0.2 * (c.dense_k < 60),
        proposer=RandomProposer(all_needs, "recall@10"),
        rounds=30,
    )
    made.preset = replace(made.preset, explorations=30)
    assert made.search().promoted.score == 1.0


def test_the_journal_tells_each_step_of_a_round(tmp_path: Path, world: Any) -> None:
    world(tmp_path / "run", learnable, rounds=1).search()
    kinds = [(line["event"], line.get("split")) for line in lines(tmp_path / "run")]
    assert kinds == [
        ("proposed", None),
        ("evaluated", "val"),
        ("evaluated", "dev"),
        ("diagnosed", None),
        ("proposed", None),
        ("evaluated", "val"),
        ("accepted", None),
        ("round_finished", None),
        ("stopped", None),
        ("evaluated", "fresh"),
        ("evaluated", "fresh"),
        ("rechecked", None),
        ("promoted", None),
    ]
    run = tmp_path / "run" / "candidates" / "001"
    assert sorted(p.name for p in run.iterdir()) == [
        "cases.jsonl",
        "message.md",
        "patch.diff",
        "retrieval.toml",
        "usage.json",
    ]
    assert "- fusion = 'learned'" in (run / "message.md").read_text()
    proposed = events(tmp_path / "run", Proposed)[1]
    assert (proposed.changes, proposed.target) == ({"fusion": "learned"}, "evidence")
    diagnosed = events(tmp_path / "run", Diagnosed)[0]
    assert diagnosed.causes["ranked_low"] == 30
    assert diagnosed.lost["ranked_low"] == pytest.approx(0.5)


def test_equal_seeds_give_equal_journals_and_others_differ(
    tmp_path: Path, world: Any, all_needs: Any
) -> None:
    def run(name: str, seed: int) -> list[dict[str, Any]]:
        proposer = RandomProposer(all_needs, "recall@10")
        world(tmp_path / name, learnable, seed=seed, proposer=proposer).search()
        return lines(tmp_path / name)

    first = run("a", 1)
    assert run("b", 1) == first
    assert run("c", 2) != first


def test_dev_is_evaluated_for_incumbents_only(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", flat, rounds=4)
    made.search()
    assert made.evaluator.labels.count("000 dev") == 1
    assert [label for label in made.evaluator.labels if label.endswith("dev")] == ["000 dev"]


def test_two_flat_rounds_are_followed_by_a_random_step_and_then_by_the_end(
    tmp_path: Path, world: Any
) -> None:
    made = world(tmp_path / "run", flat, rounds=12)
    found = made.search()
    assert [e.round for e in events(tmp_path / "run", Explored)] == [3, 5, 7]
    by = [p.proposer for p in events(tmp_path / "run", Proposed)]
    assert by == ["start", "rule", "rule", *["explore", "rule"] * 2, "explore"]
    assert (found.stopped, found.rounds) == ("converged", 7)
    assert found.promoted is found.start
    assert found.parent is None


def test_a_gain_found_by_exploring_starts_the_count_again(tmp_path: Path, world: Any) -> None:
    script = [{"window": 2}, {"window": 3}, {"temporal_neighbours": 1}, {"window": 2}]
    made = world(
        tmp_path / "run",
        lambda c: 0.5 + 0.2 * (c.temporal_neighbours > 0),
        proposer=Scripted(script),
        rounds=5,
    )
    made.preset = replace(made.preset, explore_after=5)
    made.search()
    flats = [e["flat_rounds"] for e in lines(tmp_path / "run") if e["event"] == "round_finished"]
    assert flats == [1, 2, 0, 1, 2]


def test_a_proposer_without_ideas_is_helped_by_exploration(tmp_path: Path, world: Any) -> None:
    world(tmp_path / "run", flat, proposer=Scripted([]), rounds=1).search()
    assert [p.proposer for p in events(tmp_path / "run", Proposed)] == ["start", "explore"]


def test_a_rejected_candidate_leaves_the_incumbent(tmp_path: Path, world: Any) -> None:
    proposer = Scripted([{"window": 2}, {"window": 3}])
    world(
        tmp_path / "run", lambda c: 0.5 - 0.3 * (c.window > 1), proposer=proposer, rounds=2
    ).search()
    assert proposer.seen[1] == RetrievalConfig()
    assert events(tmp_path / "run", Reverted) == []


def test_the_paper_preset_follows_proposals_and_reverts_when_they_fall(
    tmp_path: Path, world: Any
) -> None:
    def quality(config: RetrievalConfig) -> float:
        # what is no worse is followed, a fall is reverted
        return 0.5 - 0.2 * (config.lexical_k == 9)

    proposer = Scripted([{"lexical_k": 7}, {"lexical_k": 9}, {"lexical_k": 11}])
    made = world(
        tmp_path / "run",
        quality,
        preset=replace(PAPER, explore_after=9),
        guard=BestSoFar(),
        proposer=proposer,
        rounds=3,
    )
    made.search()
    assert proposer.seen[0] == RetrievalConfig.minimal()
    assert [c.lexical_k for c in proposer.seen] == [5, 7, 5]
    reverted = events(tmp_path / "run", Reverted)
    assert [(e.round, e.given_up, e.back_to) for e in reverted] == [(2, "002", "000")]
    assert reverted[0].drop == pytest.approx(0.2)


def test_the_paper_preset_takes_any_gain_as_best(tmp_path: Path, world: Any) -> None:
    made = world(
        tmp_path / "run",
        lambda c: 0.5 + c.lexical_k / 500,
        preset=PAPER,
        guard=BestSoFar(),
        proposer=Scripted([{"lexical_k": k} for k in (15, 25, 35)]),
        rounds=3,
    )
    assert made.search().promoted.config.lexical_k == 35
    assert len(events(tmp_path / "run", Accepted)) == 3


def test_weights_are_fitted_on_dev_and_only_when_needed(tmp_path: Path, world: Any) -> None:
    script = [{"fusion": "learned"}, {"neighbour_bonus": 0.3}, {"window": 2}, {"fusion": "rrf"}]
    made = world(tmp_path / "run", learnable, proposer=Scripted(script), rounds=4)
    made.search()
    assert made.learner.fits == 2
    fitted = [(p.candidate, p.fitted_on) for p in events(tmp_path / "run", Proposed) if p.target]
    assert fitted[:2] == [("001", 60), ("002", 60)]
    from memgene.evolution.rundir import RunFolder

    with RunFolder.open(
        tmp_path / "run", {"seed": 0, "rounds": 4}, {"synthetic": "f"}, resume=True
    ) as run:
        assert run.load_config("004").ranker is None
        assert run.load_config("001").ranker == run.load_config("002").ranker
        assert run.load_config("001").ranker != run.load_config("003").ranker


def test_a_candidate_that_is_worse_on_fresh_items_is_not_promoted(
    tmp_path: Path, world: Any
) -> None:
    made = world(tmp_path / "run", learnable, rounds=3)
    evaluate = made.evaluator.evaluate

    def overfitted(config: Any, questions: Any, label: str) -> Any:
        # what was accepted second is bad on fresh items
        bad = label.endswith("fresh") and config.neighbour_bonus > 0
        made.evaluator.quality = (lambda _: 0.2) if bad else learnable
        return evaluate(config, questions, label)

    made.evaluator.evaluate = overfitted
    made.proposer = Scripted([{"fusion": "learned"}, {"neighbour_bonus": 0.3}, {"window": 3}])
    found = made.search()
    checks = events(tmp_path / "run", Rechecked)
    assert [(c.candidate, c.against, c.kept) for c in checks] == [
        ("002", "000", False),
        ("001", "000", True),
    ]
    assert checks[0].delta == pytest.approx(-0.3)
    assert checks[1].delta == pytest.approx(0.2)
    assert found.promoted.id == "001"
    assert events(tmp_path / "run", Promoted) == [Promoted("001", fallback=True)]


def test_the_question_budget_ends_the_run_and_is_not_exceeded(tmp_path: Path, world: Any) -> None:
    # start: val 60 + dev 60; a candidate 60; 60 kept for the re-check of two on 30 fresh items
    made = world(tmp_path / "run", flat, budget=Budget(questions=310), rounds=9)
    found = made.search()
    assert (found.stopped, found.rounds) == ("budget", 2)
    assert made.evaluator.asked == 240
    stopped = events(tmp_path / "run", Stopped)[0]
    assert stopped.detail == "questions: 240 of 310 used, the next step needs 120"


def test_a_budget_for_no_round_is_refused_before_anything_is_spent(
    tmp_path: Path, world: Any
) -> None:
    made = world(tmp_path / "run", flat, budget=Budget(questions=239))
    with pytest.raises(InputError, match="does not cover the start and one candidate"):
        made.search()
    assert made.evaluator.asked == 0


def test_a_call_budget_stops_after_the_round_that_spent_it(tmp_path: Path, world: Any) -> None:
    found = world(tmp_path / "run", flat, budget=Budget(calls=150), rounds=9).search()
    assert (found.stopped, found.rounds) == ("budget", 1)


class KilledError(BaseException):
    """Stands for kill -9 inside one process."""


@pytest.mark.parametrize("after", [0, 1, 2, 4, 7])
def test_a_run_that_dies_in_any_evaluation_resumes_to_the_same_journal(
    tmp_path: Path, world: Any, after: int
) -> None:
    whole = world(tmp_path / "whole", learnable, rounds=5)
    expected = whole.search()
    died = world(tmp_path / "died", learnable, rounds=5)
    left = [after]

    def kill() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    died.evaluator.before = kill
    with pytest.raises(KilledError):
        died.search()
    again = world(tmp_path / "died", learnable, rounds=5)
    found = again.search(resume=True)
    assert lines(tmp_path / "died") == lines(tmp_path / "whole")
    assert found.promoted.config == expected.promoted.config
    # nothing that was recorded is evaluated or fitted again
    assert len(again.evaluator.labels) == len(whole.evaluator.labels) - after
    assert died.learner.fits + again.learner.fits <= whole.learner.fits + 1
    assert (again.meter.questions, again.meter.calls) == (whole.meter.questions, whole.meter.calls)


def test_a_finished_search_resumes_without_any_work(tmp_path: Path, world: Any) -> None:
    expected = world(tmp_path / "run", learnable).search()
    again = world(tmp_path / "run", learnable)
    found = again.search(resume=True)
    assert (again.evaluator.asked, again.learner.fits) == (0, 0)
    assert found.promoted.config == expected.promoted.config


def test_changed_cases_are_noticed(tmp_path: Path, world: Any) -> None:
    from memgene.core import RunError

    world(tmp_path / "run", learnable).search()
    path = tmp_path / "run" / "candidates" / "000" / "cases.jsonl"
    path.write_text(path.read_text().replace('{"recall@10":1.0}', '{"recall@10":0.5}', 1))
    with pytest.raises(RunError, match="not what the journal recorded"):
        world(tmp_path / "run", learnable).search(resume=True)


def test_a_stop_is_asked_for_and_the_round_is_finished(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", learnable, rounds=5)
    made.evaluator.before = lambda: (
        made.interrupt.request() if "001 val" in made.evaluator.labels else None
    )
    with pytest.raises(RunInterruptedError, match="stopped after round 2 as asked") as caught:
        made.search()
    assert caught.value.rounds == 2
    events_of_round = lines(tmp_path / "run")
    assert events_of_round[-1]["event"] == "round_finished"
    world(tmp_path / "whole", learnable, rounds=5).search()
    world(tmp_path / "run", learnable, rounds=5).search(resume=True)
    assert lines(tmp_path / "run") == lines(tmp_path / "whole")


def test_watchers_see_rounds_scores_and_the_best(tmp_path: Path, world: Any) -> None:
    made = world(tmp_path / "run", learnable, rounds=2)
    made.search()
    assert [state[0] for state in made.told] == [0, 1, 2]
    assert made.told[0][1:] == (0.5, 0.5)
    assert made.told[1][1:] == (0.7, 0.7)


def test_cost_is_recorded_with_every_evaluation(tmp_path: Path, world: Any) -> None:
    world(tmp_path / "run", flat, rounds=1).search()
    first = events(tmp_path / "run", Evaluated)[0]
    assert first.usage == {"task": {"calls": 60, "fresh": 60, "tokens": 120, "cost": 0.0}}
    assert (first.questions, first.scored, first.errors) == (60, 60, 0)
