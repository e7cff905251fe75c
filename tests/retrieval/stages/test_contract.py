"""The contract of stages: every kind has it, and it is said in words that are true."""

from __future__ import annotations

import ast

import pytest

from memgene.bank import MemoryUnit
from memgene.retrieval.stages.calls import unit_value
from memgene.retrieval.stages.contract import CONTRACT, HIT, MOST_CHARACTERS, UNIT
from memgene.retrieval.stages.stage import StageKind


@pytest.mark.parametrize("kind", StageKind)
def test_every_kind_has_functions_whose_signatures_are_python(kind: StageKind) -> None:
    assert CONTRACT[kind][0].required
    for function in CONTRACT[kind]:
        (parsed,) = ast.parse(f"{function.signature}: ...").body
        assert isinstance(parsed, ast.FunctionDef)
        assert parsed.name == function.name
        assert tuple(arg.arg for arg in parsed.args.args) == function.parameters


def test_a_unit_is_seen_with_the_keys_that_are_told_and_no_reference_to_evidence() -> None:
    unit = MemoryUnit("x" * 3000, speaker="Ana", source="talk", refs=("D1:3",))
    seen = unit_value(unit)
    assert set(seen) == set(UNIT)
    assert set(HIT) == {*UNIT, "score"}
    assert len(seen["text"]) == MOST_CHARACTERS
    assert "D1:3" not in repr(seen)
