"""Programs by name: a file, or one that is shipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgene.agents.offline import OfflineAgent
from memgene.core import ConfigError, DataError, Filled
from memgene.evaluation.evaluator import evaluate_cases
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.registry import LoadedModels, harness_names, make_factory
from memgene.llm.roles import RoleModels
from memgene.programs.seeds import seed_names
from memgene.sandbox import Level, Probe, SandboxUnavailableError, probe
from memgene.sandbox import sandbox as sandbox_module
from memgene.settings import SandboxSettings
from memgene.testing import ScriptedLLM, tiny_task
from memgene.testing.programs import program_text


@pytest.fixture(scope="module")
def models() -> Iterator[LoadedModels]:
    with LoadedModels() as made:
        yield made


def test_programs_are_listed() -> None:
    assert "program:FILE" in harness_names()


def test_a_file_is_a_memory(models: LoadedModels, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(program_text(read="return '\\n'.join(self.texts)"), encoding="utf-8")
    factory = make_factory(f"program:{file}", embedder="hashing", models=models)
    cases = evaluate_cases(tiny_task(), factory, OfflineAgent(), metrics=["token_f1"])
    assert [case.error for case in cases] == [None] * 24
    assert cases[1].answer == "4 March 2024"
    assert "bakery" in cases[1].context
    assert cases[0].hits is None


@pytest.mark.parametrize("name", seed_names())
def test_every_seed_is_a_memory(models: LoadedModels, name: str) -> None:
    factory = make_factory(f"program:{name}", embedder="hashing", models=models)
    assert isinstance(factory, ProgramHarnessFactory)
    harness = factory()
    assert harness.name == f"program:{name}"
    harness.close()


def test_names_and_files_that_are_not_there(models: LoadedModels, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no program 'vektor': name a file, or one of .*vector"):
        make_factory("program:vektor", embedder="hashing", models=models)
    with pytest.raises(DataError, match=r"gone\.py cannot be read"):
        make_factory(f"program:{tmp_path / 'gone.py'}", embedder="hashing", models=models)


def test_whoever_makes_one_must_be_able_to_end_it() -> None:
    with pytest.raises(ConfigError, match="needs LoadedModels"):
        make_factory("program:empty", embedder="hashing")


def test_the_toolkits_model_answers_programs(tmp_path: Path) -> None:
    asks = "return self.toolkit.llm_completion(query.query_text)"
    file = tmp_path / "asks.py"
    file.write_text(program_text(read=asks), encoding="utf-8")
    llms = RoleModels.of({"toolkit": ScriptedLLM(["a reply"])})
    with LoadedModels(llms) as models:
        harness = make_factory(f"program:{file}", embedder="hashing", models=models)()
        query = Filled(harness.query_schema, {"query_text": "which boat"})
        assert harness.read(query).text == "a reply"
    assert llms.usage.roles["toolkit"].calls == 1


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has resource limits and nothing more."""
    parts = {"rlimits": "yes", "landlock": "no: test", "seccomp": "no: test"}
    monkeypatch.setattr(sandbox_module, "probe", lambda: Probe(Level.RLIMITS, parts))


def test_how_programs_ran_is_known_once_there_was_one() -> None:
    asked = SandboxSettings(level="rlimits")
    with LoadedModels(sandbox=asked) as models:
        make_factory("recent", models=models)
        assert models.sandbox is None
        make_factory("program:empty", embedder="hashing", models=models)
        assert models.sandbox == SandboxSettings.model_validate({"level": probe().level.label})


@pytest.mark.usefixtures("little")
def test_programs_run_below_full_isolation_only_where_that_was_asked_for() -> None:
    with LoadedModels() as models:
        with pytest.raises(SandboxUnavailableError, match="'full' is required"):
            make_factory("program:empty", embedder="hashing", models=models)
        assert models.sandbox is None
    with LoadedModels(sandbox=SandboxSettings(level="rlimits")) as models:
        make_factory("program:empty", embedder="hashing", models=models)().close()
        assert models.sandbox == SandboxSettings(level="rlimits")
