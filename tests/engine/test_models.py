"""Which language models an engine gets, and when one is missed."""

from __future__ import annotations

import pytest

from memgene.core import ConfigError
from memgene.engine.models import EngineModels
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.testing import ScriptedLLM

PLAIN = RetrievalConfig()
ROUTED = PLAIN.changed(self_routing="llm")


def roles(*names: str) -> RoleModels:
    return RoleModels.of({name: ScriptedLLM([], name=name) for name in names})


def names(models: EngineModels) -> tuple[str | None, ...]:
    def name(llm: LLM | None) -> str | None:
        return None if llm is None else llm.name

    return name(models.extract), name(models.rewrite), name(models.attribute)


def test_an_engine_gets_the_models_its_configuration_calls() -> None:
    with roles("task", "judge") as all_roles:
        assert names(EngineModels.of(all_roles, PLAIN)) == (None, None, None)
        assert names(EngineModels.of(all_roles, ROUTED)) == (None, "task", None)
        facts = PLAIN.changed(extraction="facts")
        assert names(EngineModels.of(all_roles, facts)) == ("task", None, None)


def test_rules_call_no_model() -> None:
    with roles("rewrite") as own:
        rules = PLAIN.changed(self_routing="rules")
        assert names(EngineModels.of(own, rules)) == (None, None, None)


def test_one_that_learns_gets_the_model_that_attributes_where_there_is_one() -> None:
    with roles("judge", "attribute") as own, roles("judge") as judge, roles("task") as none:
        assert names(EngineModels.of(own, PLAIN, learning=True)) == (None, None, "attribute")
        assert names(EngineModels.of(judge, PLAIN, learning=True)) == (None, None, "judge")
        assert names(EngineModels.of(none, ROUTED, learning=True)) == (None, "task", None)


def test_without_roles_there_is_none() -> None:
    assert EngineModels.of(None, ROUTED, learning=True) == EngineModels()


def test_a_configuration_whose_model_is_missing_is_refused() -> None:
    EngineModels().check(PLAIN.changed(self_routing="rules"))
    EngineModels(rewrite=ScriptedLLM([])).check(ROUTED)
    with pytest.raises(ConfigError, match=r"self_routing needs .*\[llm\.rewrite\]"):
        EngineModels(attribute=ScriptedLLM([])).check(ROUTED)


def test_no_configuration_needs_the_model_that_attributes() -> None:
    EngineModels().check(PLAIN)
