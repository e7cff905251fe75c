"""Roles: which model plays which part, what is shared, applied, kept and counted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memgene.core import (
    Budget,
    BudgetExhaustedError,
    ConfigError,
    InputError,
    ModelError,
    RoleUsage,
    metering,
)
from memgene.llm import LLM, ChatMessage, Finish, Reply, Request
from memgene.llm.prices import Prices
from memgene.llm.role import prompt_tokens
from memgene.llm.roles import RoleModels, section_of
from memgene.settings import LLMRoles, LLMSettings
from memgene.testing.llm import ScriptedLLM

HI = Request((ChatMessage("user", "Hi"),))


class Echo(ScriptedLLM):
    """Replies with the number of the call; counts how often it is closed."""

    def __init__(self, name: str = "echo") -> None:
        super().__init__(self._numbered, name=name, constrains=True, concurrency=7)
        self.closed = 0

    def _numbered(self, request: Request) -> Reply:
        return Reply(f"{len(self.requests)}", Finish.STOP, 100, 10, 0.5)

    def close(self) -> None:
        self.closed += 1


class Loading:
    """Makes an Echo of each section; keeps both."""

    def __init__(self) -> None:
        self.sections: list[LLMSettings] = []
        self.models: list[Echo] = []

    def __call__(self, section: LLMSettings) -> LLM:
        self.sections.append(section)
        self.models.append(Echo(section.model))
        return self.models[-1]


def named(name: str, **more: object) -> LLMSettings:
    return LLMSettings.model_validate({"model": f"openai/{name}", **more})


def names(roles: RoleModels) -> dict[str, str | None]:
    asked = ("task", "reflector", "judge", "toolkit", "extract", "diagnose", "rewrite", "attribute")
    return {role: llm.name if (llm := roles.get(role)) else None for role in asked}


# -- which model


def test_without_settings_every_role_is_offline() -> None:
    with RoleModels(LLMRoles(cache="off")) as roles:
        assert set(names(roles).values()) == {None}


def test_roles_without_a_section_fall_back() -> None:
    settings = LLMRoles(cache="off", task=named("t"), reflector=named("r"), judge=named("j"))
    with RoleModels(settings, load=Loading()) as roles:
        assert names(roles) == {
            "task": "openai/t",
            "reflector": "openai/r",
            "judge": "openai/j",
            "toolkit": None,
            "extract": "openai/t",
            "diagnose": "openai/r",
            "rewrite": "openai/t",
            "attribute": "openai/j",
        }


def test_a_section_of_its_own_comes_before_the_fallback_even_offline() -> None:
    settings = LLMRoles(
        cache="off", task=named("t"), extract=named("e"), rewrite=LLMSettings(model="offline")
    )
    with RoleModels(settings, load=Loading()) as roles:
        found = names(roles)
    assert (found["extract"], found["rewrite"]) == ("openai/e", None)
    assert section_of(settings, "extract").model == "openai/e"


def test_models_are_loaded_when_asked_for_and_shared_by_equal_sections() -> None:
    load = Loading()
    settings = LLMRoles(
        cache="off",
        task=named("a", temperature=0.7, max_tokens=50, seed=3, price_in=1.0),
        judge=named("a", price_in=2.0),
        toolkit=named("a", base_url="http://other.example/v1"),
    )
    with RoleModels(settings, load=load) as roles:
        assert load.models == []
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(roles.get, ["task", "judge", "extract", "attribute"] * 4))
        assert len(load.models) == 1
        roles.get("toolkit")
        assert len(load.models) == 2
    assert [m.closed for m in load.models] == [1, 1]


def test_an_unknown_role_is_refused() -> None:
    with RoleModels.of({}) as roles, pytest.raises(InputError, match=r"no role 'poet'.*task"):
        roles.get("poet")
    with pytest.raises(InputError, match="no role 'poet'"):
        RoleModels.of({"poet": Echo()})


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (
            "task",
            "agent 'llm' needs a language model: set [llm.task] model = … in memgene.toml or "
            "MEMGENE_LLM_TASK_MODEL; `memgene doctor` tests it",
        ),
        (
            "attribute",
            "agent 'llm' needs a language model: set [llm.judge] model = … in memgene.toml (or of "
            "its own: [llm.attribute]) or MEMGENE_LLM_JUDGE_MODEL; `memgene doctor` tests it",
        ),
    ],
)
def test_what_needs_an_offline_role_is_told_which_setting_to_make(role: str, message: str) -> None:
    with RoleModels(LLMRoles(cache="off")) as roles, pytest.raises(ConfigError) as caught:
        roles.need(role, "agent 'llm'")
    assert str(caught.value) == message


def test_given_models_play_roles_and_are_left_open() -> None:
    echo = Echo()
    with RoleModels.of({"task": echo}) as roles:
        llm = roles.need("rewrite", "a lever")
        assert (llm.name, llm.identity, llm.constrains, llm.concurrency) == (
            "echo",
            "echo",
            True,
            7,
        )
        llm.close()
        assert roles.get("judge") is None
    assert echo.closed == 0
    with pytest.raises(InputError, match="closed"):
        roles.get("task")


def test_every_model_is_closed_even_if_one_fails_to() -> None:
    class Stuck(Echo):
        def close(self) -> None:
            super().close()
            raise ModelError("stuck")

    models: list[Stuck] = []

    def load(section: LLMSettings) -> LLM:
        models.append(Stuck(section.model))
        return models[-1]

    settings = LLMRoles(cache="off", task=named("a"), judge=named("b"))
    roles = RoleModels(settings, load=load)
    roles.get("task")
    roles.get("judge")
    with pytest.raises(ModelError):
        roles.close()
    assert [m.closed for m in models] == [1, 1]
    roles.close()
    assert [m.closed for m in models] == [1, 1]


# -- what is applied


def test_the_settings_of_a_role_are_applied_to_its_requests() -> None:
    load = Loading()
    settings = LLMRoles(
        cache="off", task=named("a", temperature=0.7, max_tokens=50, seed=3), judge=named("a")
    )
    with RoleModels(settings, load=load) as roles:
        task, judge = roles.need("task", "x"), roles.need("judge", "x")
        task.complete(Request(HI.messages, max_tokens=1024, seed=0))
        task.complete(Request(HI.messages, max_tokens=20, seed=1))
        task.complete(Request(HI.messages, seed=None))
        judge.complete(HI)
        seen = [(r.temperature, r.max_tokens, r.seed) for r in load.models[0].requests]
    assert seen == [(0.7, 50, 3), (0.7, 20, 4), (0.7, 50, 3), (0.0, 1024, 0)]


# -- what is kept and counted


def test_an_equal_request_is_answered_from_the_cache_and_counts_for_who_asked(
    tmp_path: Path,
) -> None:
    echo = Echo()
    prices = {"task": Prices(10.0, 100.0)}
    with RoleModels.of({"task": echo}, cache=tmp_path / "c.sqlite", prices=prices) as roles:
        task, extract = roles.need("task", "x"), roles.need("extract", "x")
        with metering() as meter:
            replies = [task.complete(HI), task.complete(HI), extract.complete(HI)]
        assert [(r.text, r.cached) for r in replies] == [("1", False), ("1", True), ("1", True)]
        # 100 · 10 / 10⁶ + 10 · 100 / 10⁶ = 0.002, once
        assert roles.usage.roles == {
            "task": RoleUsage(2, 1, 100, 10, 0.002, 0.5),
            "extract": RoleUsage(calls=1),
        }
        assert meter.usage == roles.usage


def test_a_run_repeated_from_the_cache_makes_no_fresh_call(tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        with RoleModels.of({"task": Echo()}, cache=tmp_path / "c.sqlite") as roles:
            llm = roles.need("task", "x")
            texts.append([llm.complete(Request((ChatMessage("user", q),))).text for q in "abc"])
            fresh = roles.usage.roles["task"].fresh
    assert texts[0] == texts[1] == ["1", "2", "3"]
    assert fresh == 0


def test_half_a_character_in_a_reply_is_replaced_and_kept(tmp_path: Path) -> None:
    with RoleModels.of({"task": ScriptedLLM(["a\ud800b"])}, cache=tmp_path / "c.sqlite") as roles:
        task = roles.need("task", "this test")
        assert [task.complete(HI).text for _ in range(2)] == ["a?b", "a?b"]


def test_models_do_not_answer_for_each_other(tmp_path: Path) -> None:
    one, two = Echo("one"), Echo("two")
    with RoleModels.of({"task": one, "judge": two}, cache=tmp_path / "c.sqlite") as roles:
        roles.need("task", "x").complete(HI)
        roles.need("judge", "x").complete(HI)
    assert (len(one.requests), len(two.requests)) == (1, 1)


def test_with_the_cache_off_every_call_is_fresh() -> None:
    echo = Echo()
    with RoleModels.of({"task": echo}) as roles:
        llm = roles.need("task", "x")
        assert [llm.complete(HI).text, llm.complete(HI).text] == ["1", "2"]
        assert roles.usage.roles["task"].fresh == 2


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    class Failing(Echo):
        def complete(self, request: Request) -> Reply:
            reply = super().complete(request)
            if len(self.requests) == 1:
                raise ModelError("down")
            return reply

    with RoleModels.of({"task": Failing()}, cache=tmp_path / "c.sqlite") as roles:
        llm = roles.need("task", "x")
        with pytest.raises(ModelError):
            llm.complete(HI)
        assert llm.complete(HI).text == "2"
        assert roles.usage.roles["task"] == RoleUsage(2, 2, 100, 10, 0.0, pytest.approx(0.5, abs=1))


def test_a_budget_holds_all_roles_and_lets_cached_replies_pass(tmp_path: Path) -> None:
    with RoleModels.of({"task": Echo()}, cache=tmp_path / "c.sqlite") as roles:
        task, rewrite = roles.need("task", "x"), roles.need("rewrite", "x")
        with roles.ledger.limited(Budget(calls=1)):
            task.complete(HI)
            rewrite.complete(HI)
            with pytest.raises(BudgetExhaustedError, match="calls: 1 of 1 used"):
                rewrite.complete(Request((ChatMessage("user", "Ho"),)))


def test_a_call_that_could_exceed_the_tokens_left_is_not_made() -> None:
    """`Hi` is reserved as ⌈2 / 3⌉ + 8 = 9 tokens, and 20 for the reply."""
    echo = Echo()
    request = Request(HI.messages, max_tokens=20)
    assert prompt_tokens(request) == 9
    with RoleModels.of({"task": echo}) as roles:
        llm = roles.need("task", "x")
        with (
            roles.ledger.limited(Budget(tokens=28)),
            pytest.raises(BudgetExhaustedError, match=r"tokens: 0 of 28 used, the.* need 29"),
        ):
            llm.complete(request)
        with roles.ledger.limited(Budget(tokens=29)):
            llm.complete(request)
    assert len(echo.requests) == 1


@pytest.mark.parametrize(
    ("section", "known"),
    [
        (named("a"), False),
        (named("a", price_in=0.0), True),
        (named("a", price_out=3.0), True),
        (LLMSettings(model="local/smollm2"), True),
        (LLMSettings(model="replay:replies.jsonl"), True),
        (LLMSettings(model="command:agent"), False),
    ],
)
def test_a_money_budget_needs_a_price_unless_the_model_is_free(
    section: LLMSettings, known: bool
) -> None:
    with RoleModels(LLMRoles(cache="off", task=section), load=Loading()) as roles:
        llm = roles.need("task", "x")
        with roles.ledger.limited(Budget(money=1.0)):
            if known:
                llm.complete(HI)
            else:
                with pytest.raises(ConfigError, match=r"the price of \[llm.task\]"):
                    llm.complete(HI)


def test_the_cache_is_in_the_users_cache_folder_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with RoleModels(LLMRoles(task=named("a")), load=Loading()) as roles:
        assert not (tmp_path / "memgene").exists()
        roles.need("task", "x").complete(HI)
    assert (tmp_path / "memgene" / "llm.sqlite").is_file()
