"""Two genomes side by side."""

from __future__ import annotations

import json
from dataclasses import replace

from memgene.genome import GenomeBundle, Score
from memgene.genome.comparing import Change, compare_bundles
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage

ONE = 'KIND = "query"\nABOUT = "one"\n'
TWO = 'KIND = "query"\nABOUT = "two"\n'
A = GenomeBundle(
    RetrievalConfig(window=2).with_stage(Stage("s", ONE), 1.0).with_stage(Stage("gone", ONE), 0.5),
    "static",
    "config",
    scores={"test/f1": Score(0.5, 0.4, 0.6, 10), "val/f1": Score(0.5, 0.4, 0.6, 10)},
    provenance={"seed": 1},
)
B = GenomeBundle(
    RetrievalConfig(window=3, answer_style="list", per_type={"when": {"window": 1}})
    .with_stage(Stage("s", TWO), 1.0)
    .with_stage(Stage("new", ONE), 0.0),
    "hashing",
    "joint",
    parents=(A.id,),
    scores={"test/f1": Score(0.75, 0.7, 0.8, 10), "val/f1": Score(0.5, 0.4, 0.6, 10)},
    fingerprints={"demo": "abc"},
    provenance={"seed": 1, "rounds": 4},
    program="one\n",
)


def test_a_genome_does_the_same_as_itself() -> None:
    found = compare_bundles(A, A)
    assert found.same
    assert (found.levers, found.stages, found.prompts, found.origin, found.scores) == ((),) * 5
    assert (found.program, found.router, found.memory) == ("", "absent", "absent")


def test_levers_stages_prompts_origin_and_scores_that_differ_are_told() -> None:
    found = compare_bundles(A, B)
    assert not found.same
    assert found.ids == (A.id, B.id)
    assert found.levers == (
        Change("window", 2, 3),
        Change("answer_style", "concise", "list"),
        Change("per_type.when.window", None, 1),
    )
    assert [(s.name, s.a, s.b) for s in found.stages] == [
        ("gone", 0.5, None),
        ("new", None, 0.0),
        ("s", 1.0, 1.0),
    ]
    assert [change.name for change in found.prompts] == ["answer_style.list"]
    assert found.origin == (
        Change("strategy", "config", "joint"),
        Change("embedder", "static", "hashing"),
        Change("parents", (), (A.id,)),
        Change("data.demo", None, "abc"),
        Change("provenance.rounds", None, 4),
    )
    assert found.scores == (Change("test/f1", A.scores["test/f1"], B.scores["test/f1"]),)


def test_code_is_a_unified_difference() -> None:
    found = compare_bundles(A, B)
    assert found.program == "--- /dev/null\n+++ b/program.py\n@@ -0,0 +1 @@\n+one\n"
    assert found.stages[2].patch == (
        "--- a/stages/s.py\n+++ b/stages/s.py\n@@ -1,2 +1,2 @@\n"
        ' KIND = "query"\n-ABOUT = "one"\n+ABOUT = "two"\n'
    )
    back = compare_bundles(B, replace(B, program="two"))
    assert back.program.endswith("@@ -1 +1 @@\n-one\n+two\n")


def test_a_stage_with_another_strength_has_no_difference_of_code() -> None:
    weaker = replace(A, config=A.config.with_stage(Stage("s", ONE), 0.25))
    (stage,) = compare_bundles(A, weaker).stages
    assert (stage.name, stage.a, stage.b, stage.patch) == ("s", 1.0, 0.25, "")


def test_router_and_learning_are_told_by_what_became_of_them(full: GenomeBundle) -> None:
    bare = replace(full, config=full.config.changed(router=None), memory=None)
    assert (compare_bundles(full, full).router, compare_bundles(full, full).memory) == (
        "equal",
        "equal",
    )
    assert (compare_bundles(bare, full).router, compare_bundles(bare, full).memory) == (
        "added",
        "added",
    )
    assert (compare_bundles(full, bare).router, compare_bundles(full, bare).memory) == (
        "removed",
        "removed",
    )


def test_it_dumps_to_plain_values() -> None:
    dumped = compare_bundles(A, B).model_dump()
    assert json.loads(json.dumps(dumped)) == dumped
    assert dumped["scores"][0]["b"] == {"mean": 0.75, "low": 0.7, "high": 0.8, "n": 10}
