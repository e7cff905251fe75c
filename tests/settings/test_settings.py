"""Settings: a file, then the environment, then arguments; whatever is unknown is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memgene.core import ConfigError, StoredConfigError
from memgene.settings import SandboxSettings, environment_names, load_settings


def write(folder: Path, text: str, name: str = "memgene.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_source_the_defaults_stand(tmp_path: Path) -> None:
    settings = load_settings(folder=tmp_path, environment={})
    assert (settings.embedder, settings.agent, settings.data, settings.db) == (
        None,
        "offline",
        None,
        None,
    )
    assert settings.llm.task.model == "offline"
    assert settings.llm.extract is None


def test_file_then_environment_then_arguments(tmp_path: Path) -> None:
    write(tmp_path, 'embedder = "hashing"\ndb = "file.db"\ndata = "from-file"\n')
    variables = {"MEMGENE_DB": "environment.db", "MEMGENE_DATA": "from-environment", "HOME": "/"}
    settings = load_settings(
        {"data": "from-arguments", "embedder": None}, folder=tmp_path, environment=variables
    )
    assert settings.embedder == "hashing"
    assert settings.db == "environment.db"
    assert settings.data == Path("from-arguments")


def test_paths_in_a_file_are_relative_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, 'db = "bank.db"\ndata = "sets"\n')
    settings = load_settings(folder=tmp_path, environment={})
    assert settings.db == str(tmp_path / "bank.db")
    assert settings.data == tmp_path / "sets"


def test_in_memory_and_url_banks_are_not_paths(tmp_path: Path) -> None:
    write(tmp_path, 'db = ":memory:"\n')
    assert load_settings(folder=tmp_path, environment={}).db == ":memory:"


def test_another_file_can_be_named(tmp_path: Path) -> None:
    other = write(tmp_path, 'embedder = "minilm"\n', "other.toml")
    settings = load_settings(
        folder=tmp_path / "elsewhere", environment={"MEMGENE_CONFIG": str(other)}
    )
    assert settings.embedder == "minilm"
    with pytest.raises(ConfigError, match=r"MEMGENE_CONFIG.*absent\.toml"):
        load_settings(environment={"MEMGENE_CONFIG": str(tmp_path / "absent.toml")})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('embeder = "static"', ["memgene.toml", "embeder", "embedder"]),
        ('[llm.tusk]\nmodel = "offline"', ["memgene.toml", "llm.tusk", "task"]),
        ('[llm.task]\nmodle = "offline"', ["memgene.toml", "llm.task.modle", "model"]),
        ('[llm.task]\nmodel = "gpt"', ["memgene.toml", "llm.task.model", "offline"]),
        ("embedder = 3", ["memgene.toml", "embedder"]),
        ("embedder = ", ["memgene.toml", "TOML"]),
    ],
)
def test_a_wrong_key_or_value_names_file_and_key(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_settings(folder=tmp_path, environment={})
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_file_is_checked_even_where_a_later_source_overrides_it(tmp_path: Path) -> None:
    write(tmp_path, 'agent = "telepathy"')
    with pytest.raises(ConfigError, match="agent"):
        load_settings({"agent": "offline"}, folder=tmp_path, environment={})


def test_unknown_variables_and_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"MEMGENE_EMBEDER.*MEMGENE_EMBEDDER"):
        load_settings(folder=tmp_path, environment={"MEMGENE_EMBEDER": "static"})
    with pytest.raises(ConfigError, match=r"arguments.*colour"):
        load_settings({"colour": "blue"}, folder=tmp_path, environment={})


def test_a_role_can_be_set_by_a_variable(tmp_path: Path) -> None:
    write(tmp_path, '[llm.task]\nmodel = "offline"\n')
    settings = load_settings(folder=tmp_path, environment={"MEMGENE_LLM_EXTRACT_MODEL": "offline"})
    assert settings.llm.extract is not None
    assert settings.llm.extract.model == "offline"
    with pytest.raises(ConfigError, match="MEMGENE_LLM_JUDGE_MODEL"):
        load_settings(folder=tmp_path, environment={"MEMGENE_LLM_JUDGE_MODEL": "x"})


def test_every_variable_has_the_prefix_once() -> None:
    names = environment_names()
    assert len(set(names)) == len(names)
    assert all(name.startswith("MEMGENE_") for name in names)


def test_what_is_stored_is_told_from_what_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="arguments") as asked:
        load_settings({"agent": "oracle"}, folder=tmp_path, environment={})
    assert not isinstance(asked.value, StoredConfigError)
    for variables in ({"MEMGENE_AGENT": "oracle"}, {"MEMGENE_COLOUR": "red"}):
        with pytest.raises(StoredConfigError):
            load_settings(folder=tmp_path, environment=variables)
    write(tmp_path, 'agent = "oracle"\n')
    with pytest.raises(StoredConfigError):
        load_settings(folder=tmp_path, environment={})


def test_a_file_that_the_system_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path, "")

    def refuse(self: Path, encoding: str) -> str:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(StoredConfigError, match=f"{place} cannot be read: Permission denied"):
        load_settings(folder=tmp_path, environment={})


def test_how_programs_run_can_be_set_everywhere(tmp_path: Path) -> None:
    assert load_settings(folder=tmp_path, environment={}).sandbox == SandboxSettings(
        level="full", chroma="numpy"
    )
    write(tmp_path, '[sandbox]\nlevel = "bubblewrap"\nchroma = "chromadb"\n')
    variables = {"MEMGENE_SANDBOX_LEVEL": "rlimits"}
    assert set(variables) < {*environment_names()}

    def level(arguments: dict[str, Any], environment: dict[str, str]) -> str:
        found = load_settings(arguments, folder=tmp_path, environment=environment).sandbox
        assert found.chroma == "chromadb"
        return found.level

    assert level({}, {}) == "bubblewrap"
    assert level({}, variables) == "rlimits"
    assert level({"sandbox": {"level": None}}, variables) == "rlimits"
    assert level({"sandbox": {"level": "full"}}, variables) == "full"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('level = "docker"', r"memgene\.toml: key 'sandbox\.level'.*'full', 'bubblewrap'.*docker"),
        ('chroma = "redis"', r"sandbox\.chroma.*'numpy' or 'chromadb'"),
        ('levle = "full"', r"unknown key 'sandbox\.levle' \(known here: level, chroma\)"),
    ],
)
def test_what_is_no_level_is_named_with_those_there_are(
    tmp_path: Path, text: str, words: str
) -> None:
    write(tmp_path, f"[sandbox]\n{text}\n")
    with pytest.raises(StoredConfigError, match=words):
        load_settings(folder=tmp_path, environment={})


def test_a_wrong_variable_of_a_section_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoredConfigError, match=r"MEMGENE_SANDBOX_LEVEL: key 'sandbox\.level'"):
        load_settings(folder=tmp_path, environment={"MEMGENE_SANDBOX_LEVEL": "none"})
    with pytest.raises(StoredConfigError, match=r"MEMGENE_SANDBOX is not.*MEMGENE_SANDBOX_CHROMA"):
        load_settings(folder=tmp_path, environment={"MEMGENE_SANDBOX": "full"})
