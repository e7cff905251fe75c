"""The `[llm.…]` sections: the kinds of models, where settings come from, what is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene.core import ConfigError, StoredConfigError
from memgene.settings import LLMRoles, LLMSettings, environment_names, load_settings

SECRET = "sk-very-secret-0123"


def write(folder: Path, text: str) -> None:
    (folder / "memgene.toml").write_text(text, encoding="utf-8")


def load(folder: Path, **variables: str) -> LLMRoles:
    return load_settings(folder=folder, environment=variables).llm


@pytest.mark.parametrize(
    "model",
    [
        "offline",
        "local/smollm2",
        "local//models/m.gguf",
        "openai/gpt",
        "openai/meta/llama:8b",
        "command:agent --print",
        "files:talk",
        "replay:calls.jsonl",
    ],
)
def test_six_kinds_of_models(model: str) -> None:
    settings = LLMSettings(model=model)
    assert settings.model == model
    assert settings.offline is (model == "offline")


@pytest.mark.parametrize("model", ["gpt", "openai", "openai/", "local/ ", "files:", "Offline", ""])
def test_others_are_refused_with_the_kinds_there_are(tmp_path: Path, model: str) -> None:
    write(tmp_path, f'[llm.task]\nmodel = "{model}"')
    with pytest.raises(
        StoredConfigError, match=r"llm\.task\.model.*must be one of: offline, local/"
    ):
        load(tmp_path)


def test_a_section_holds_all_that_a_call_needs(tmp_path: Path) -> None:
    write(
        tmp_path,
        """[llm.task]
        model = "openai/m"
        base_url = "http://localhost:8000/v1"
        api_key_env = "MY_KEY"
        timeout = 20
        retries = 0
        concurrency = 8
        temperature = 0.2
        max_tokens = 500
        seed = 7
        price_in = 0.15
        price_out = 0.6
        context = 4096
        threads = 2
        """,
    )
    task = load(tmp_path).task
    assert (task.base_url, task.api_key_env) == ("http://localhost:8000/v1", "MY_KEY")
    assert (task.timeout, task.retries, task.concurrency) == (20.0, 0, 8)
    assert (task.temperature, task.max_tokens, task.seed) == (0.2, 500, 7)
    assert (task.price_in, task.price_out) == (0.15, 0.6)
    assert (task.context, task.threads) == (4096, 2)


def test_what_nobody_said_is_left_to_the_model(tmp_path: Path) -> None:
    task = load(tmp_path).task
    assert task.retries == 3
    assert task.api_key_env == "OPENAI_API_KEY"
    for field in ("timeout", "concurrency", "temperature", "seed", "price_in", "context", "record"):
        assert getattr(task, field) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("timeout = 0", "llm.task.timeout"),
        ("retries = -1", "llm.task.retries"),
        ("concurrency = 0", "llm.task.concurrency"),
        ("temperature = 3", "llm.task.temperature"),
        ("max_tokens = 0", "llm.task.max_tokens"),
        ("price_in = -0.1", "llm.task.price_in"),
        ("context = 1", "llm.task.context"),
        ("threads = 0", "llm.task.threads"),
        ('base_url = "localhost:8000"', "llm.task.base_url.*http:// or https://"),
        ('base_uri = "http://x"', "unknown key 'llm.task.base_uri'.*base_url"),
    ],
)
def test_numbers_and_addresses_are_checked(tmp_path: Path, line: str, words: str) -> None:
    write(tmp_path, f"[llm.task]\n{line}")
    with pytest.raises(StoredConfigError, match=words):
        load(tmp_path)


def test_every_field_of_every_role_has_a_variable(tmp_path: Path) -> None:
    names = environment_names()
    assert {
        f"MEMGENE_LLM_{role}_{field.upper()}"
        for role in ("TASK", "REFLECTOR", "JUDGE", "TOOLKIT")
        for field in LLMSettings.model_fields
    } < set(names)
    write(tmp_path, '[llm.judge]\nmodel = "openai/from-file"\nretries = 1\n')
    roles = load(
        tmp_path,
        MEMGENE_LLM_JUDGE_MODEL="openai/from-variable",
        MEMGENE_LLM_JUDGE_BASE_URL="http://localhost:1/v1",
        MEMGENE_LLM_REWRITE_MAX_TOKENS="12",
        MEMGENE_LLM_CACHE="off",
    )
    assert (roles.judge.model, roles.judge.retries) == ("openai/from-variable", 1)
    assert roles.judge.base_url == "http://localhost:1/v1"
    assert roles.rewrite is not None
    assert roles.rewrite.max_tokens == 12
    assert roles.attribute is None
    assert roles.cache == "off"


def test_a_wrong_variable_is_named_and_the_right_ones_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"MEMGENE_LLM_TASK_RETRIES: key 'llm\.task\.retries'"):
        load(tmp_path, MEMGENE_LLM_TASK_RETRIES="many")
    with pytest.raises(ConfigError, match=r"MEMGENE_LLM_TUSK_MODEL is not.*MEMGENE_LLM_ROLE_FIELD"):
        load(tmp_path, MEMGENE_LLM_TUSK_MODEL="offline")


def test_paths_in_a_file_are_relative_to_the_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        """[llm]
        cache = "replies.sqlite"
        [llm.task]
        model = "local/models/m.gguf"
        record = "calls.jsonl"
        [llm.reflector]
        model = "files:talk"
        [llm.judge]
        model = "replay:calls.jsonl"
        [llm.toolkit]
        model = "local/smollm2"
        [llm.extract]
        model = "command:./agent"
        """,
    )
    roles = load(tmp_path)
    assert roles.cache == str(tmp_path / "replies.sqlite")
    assert roles.task.model == f"local/{tmp_path}/models/m.gguf"
    assert roles.task.record == tmp_path / "calls.jsonl"
    assert roles.reflector.model == f"files:{tmp_path}/talk"
    assert roles.judge.model == f"replay:{tmp_path}/calls.jsonl"
    assert roles.toolkit.model == "local/smollm2"
    assert roles.extract is not None
    assert roles.extract.model == "command:./agent"


def test_paths_of_variables_and_absolute_ones_stay(tmp_path: Path) -> None:
    write(tmp_path, '[llm]\ncache = "off"\n[llm.task]\nmodel = "files:/srv/talk"\n')
    roles = load(tmp_path, MEMGENE_LLM_JUDGE_MODEL="files:talk")
    assert (roles.cache, roles.task.model, roles.judge.model) == (
        "off",
        "files:/srv/talk",
        "files:talk",
    )


def test_sections_of_the_wrong_type_are_named(tmp_path: Path) -> None:
    write(tmp_path, 'llm = "openai/m"')
    with pytest.raises(StoredConfigError, match="key 'llm'"):
        load(tmp_path)
    write(tmp_path, '[llm]\ntask = "openai/m"\ncache = 3')
    with pytest.raises(StoredConfigError, match=r"'llm\.task'.*|'llm\.cache'.*"):
        load(tmp_path)


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    write(tmp_path, f'[llm.task]\nmodel = "openai/m"\napi_key = "{SECRET}"\n')
    settings = load_settings(folder=tmp_path, environment={})
    key = settings.llm.task.api_key
    assert key is not None
    assert key.get_secret_value() == SECRET
    shown = [repr(settings), str(settings), settings.model_dump_json(), repr(settings.model_dump())]
    assert all(SECRET not in text and "api_key=" not in text for text in shown)


@pytest.mark.parametrize(
    "lines",
    [
        f'api_key = ["{SECRET}"]',
        f'api_key = {{ value = "{SECRET}" }}',
        f'api_key = "{SECRET}"\nretries = -1',
        f'api_kee = "{SECRET}"',
        f'base_url = "https://me:{SECRET}@host/v1"',
        f'base_url = "https://host/v1?key={SECRET}"',
    ],
)
def test_a_key_is_not_shown_by_errors_either(tmp_path: Path, lines: str) -> None:
    write(tmp_path, f"[llm.task]\n{lines}\n")
    with pytest.raises(StoredConfigError) as caught:
        load(tmp_path)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    variable = {"MEMGENE_LLM_TASK_BASE_URL": f"https://{SECRET}@host"}
    with pytest.raises(StoredConfigError) as caught:
        load(tmp_path / "elsewhere", **variable)
    assert SECRET not in str(caught.value)
