"""The retrieval configuration: declared, checked, clamped, merged deeply, and written as TOML."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import ConfigError
from memgene.retrieval.action_space import FUSIONS
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need, Symptom
from memgene.retrieval.needs import needs_llm
from memgene.retrieval.question_type import QUESTION_TYPES
from memgene.retrieval.ranker import Ranker
from memgene.retrieval.router.router import Router

RANKER = Ranker({"bm25": 1.5, "dense@-1": -0.25}, {"bm25": 0.1, "dense@-1": 0.0},
                {"bm25": 2.0, "dense@-1": 1.0}, "evidence", 12)  # fmt: skip
NUMBERS = [name for name, lever in levers().items() if lever.kind in (int, float)]
WHOLE = [name for name, lever in levers().items() if lever.kind is int]
CHOICES = [name for name, lever in levers().items() if lever.choices]
WORDS = ["extraction_focus"]
SWITCHES = [name for name, lever in levers().items() if lever.kind is bool]


def other_value(lever: Lever) -> Any:
    """A legal value that is not the default."""
    if lever.kind is bool:
        return not lever.default
    if lever.kind is str:
        free = (lever.default, "learned")
        return next((c for c in lever.choices if c not in free), "birthdays; prices")
    return lever.low if lever.default != lever.low else lever.high


# -- declarations


@pytest.mark.parametrize("name", levers())
def test_every_lever_is_declared_in_full(name: str) -> None:
    lever = levers()[name]
    assert lever.name == name
    assert lever.about
    assert lever.treats
    assert all(isinstance(n, Need) for n in lever.needs)
    assert all(isinstance(s, Symptom) for s in lever.treats)
    assert (lever.kind in (int, float)) == (lever.low is not None) == (lever.high is not None)
    assert (lever.kind is str) == bool(lever.choices or name in WORDS)
    assert lever.checked(lever.default) == lever.default == getattr(RetrievalConfig(), name)
    assert lever.checked(lever.minimal) == lever.minimal


def test_ranges_are_those_of_the_published_table() -> None:
    table = {
        "lexical_k": (0, 100),
        "dense_k": (0, 100),
        "structured_k": (0, 100),
        "context_k": (1, 50),
        "context_chars": (200, 20000),
        "importance_weight": (0, 2),
        "recency_weight": (0, 2),
        "reinforcement_weight": (0, 2),
        "utility_weight": (0, 2),
        "q_rank_weight": (0, 2),
        "half_life_days": (1, 3650),
        "entity_swap_k": (0, 25),
        "temporal_neighbours": (0, 3),
        "mmr_lambda": (0, 0.9),
        "extraction_window": (10, 80),
        "extraction_tail": (0, 10),
        "extraction_chunk": (5, 40),
        "decomposition_max": (1, 5),
        "verification_threshold": (0, 1),
    } | {name: (0, 3) for name in levers() if name.startswith("weight_")}
    assert {n: (levers()[n].low, levers()[n].high) for n in table} == table


def test_choices_are_those_of_the_published_table() -> None:
    assert levers()["verification"].choices == ("off", "strict", "multi")
    assert set(levers()["answer_style"].choices) == {
        "concise", "explanatory", "verbatim", "list", "date", "choice",
    }  # fmt: skip


def test_levers_that_need_a_model_are_off_until_somebody_asks_for_one() -> None:
    needing = {n: lever for n, lever in levers().items() if Need.LLM in lever.needs}
    assert {"extraction", "decomposition", "intent_planning", "rerank"} < set(needing)
    assert all(lever.minimal == lever.default for lever in needing.values())
    assert not needs_llm(RetrievalConfig())
    assert not needs_llm(RetrievalConfig.minimal())


def test_the_minimal_start_is_bm25_with_five_candidates_and_nothing_else() -> None:
    minimal = RetrievalConfig.minimal()
    assert (minimal.lexical_k, minimal.dense_k, minimal.structured_k) == (5, 0, 0)
    assert (minimal.weight_lexical, minimal.weight_dense, minimal.weight_structured) == (1, 0, 0)
    assert (minimal.fusion, minimal.context_k) == ("lexical_only", 5)
    assert (minimal.dense_center, minimal.dense_content_words) == ("off", "off")
    off = (
        "window_k episode_k soft_k window weight_window weight_episode weight_soft "
        "weight_speaker weight_length lexical_drop_names dense_drop_names importance_weight "
        "recency_weight reinforcement_weight utility_weight neighbour_bonus entity_swap "
        "temporal_neighbours mmr_lambda"
    )
    assert {name: getattr(minimal, name) for name in off.split() if getattr(minimal, name)} == {}
    assert minimal.max_df == 1
    assert minimal.per_type == {}


# -- checking


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_clamped_to_their_range(name: str) -> None:
    lever = levers()[name]
    for value, bound in ((-1e9, lever.low), (1e9, lever.high), (float("-inf"), lever.low)):
        if value == float("-inf") and lever.kind is int:
            continue
        clamped = getattr(RetrievalConfig(**{name: value}), name)
        assert clamped == bound
        assert type(clamped) is lever.kind


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [float("nan"), True, "1", None, [1], 1j], ids=repr)
def test_what_is_no_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"lever {name} is a number"):
        RetrievalConfig(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_number_may_be_written_as_a_float_but_not_be_a_fraction(name: str) -> None:
    value = getattr(RetrievalConfig(**{name: 2.0}), name)  # type: ignore[arg-type]
    assert type(value) is int
    for fraction in (2.5, float("inf"), float("-inf")):
        with pytest.raises(ConfigError, match=f"lever {name} is a whole number"):
            RetrievalConfig(**{name: fraction})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [1, 0, "true", None], ids=repr)
def test_what_is_neither_true_nor_false_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"lever {name} is true or false"):
        RetrievalConfig(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["", "AUTO", None, 1, True, ["on"]], ids=repr)
def test_what_is_not_among_the_choices_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"lever {name} is one of"):
        RetrievalConfig(**{name: value})  # type: ignore[arg-type]


def test_free_words_stand_on_one_line_and_are_cut_at_the_limit() -> None:
    said = RetrievalConfig(extraction_focus="  names\n of\tpets ").extraction_focus
    assert said == "names of pets"
    assert len(RetrievalConfig(extraction_focus="word " * 200).extraction_focus) == 399
    with pytest.raises(ConfigError, match="extraction_focus is a text, got 3"):
        RetrievalConfig(extraction_focus=3)  # type: ignore[arg-type]


def test_unknown_levers_are_refused_everywhere() -> None:
    with pytest.raises(ConfigError, match="no lever 'lexikal_k'"):
        RetrievalConfig().changed(lexikal_k=3)
    with pytest.raises(ConfigError, match="no lever 'lexikal_k'"):
        RetrievalConfig.from_dict({"format": 1, "lexikal_k": 3})
    with pytest.raises(ConfigError, match="no lever 'lexikal_k'"):
        RetrievalConfig(per_type={"when": {"lexikal_k": 3}})
    with pytest.raises(ConfigError, match="no lever 'per_type'"):
        RetrievalConfig(per_type={"when": {"per_type": {}}})
    with pytest.raises(TypeError):
        RetrievalConfig(lexikal_k=3)  # type: ignore[call-arg]


def test_an_unknown_question_type_is_refused() -> None:
    with pytest.raises(ConfigError, match="question type 'multi-hop' is unknown"):
        RetrievalConfig(per_type={"multi-hop": {"context_k": 3}})


def test_learned_fusion_needs_weights() -> None:
    with pytest.raises(ConfigError, match="needs fitted weights"):
        RetrievalConfig(fusion="learned")
    with pytest.raises(ConfigError, match="needs fitted weights"):
        RetrievalConfig(fusion="learned", ranker=RANKER).changed(ranker=None)
    with pytest.raises(ConfigError, match="needs fitted weights"):
        RetrievalConfig(per_type={"when": {"fusion": "learned"}})
    assert RetrievalConfig(per_type={"when": {"fusion": "learned"}}, ranker=RANKER)


# -- overrides for question types


def test_overrides_are_checked_and_clamped_like_levers() -> None:
    config = RetrievalConfig(per_type={"when": {"context_k": 999, "mmr_lambda": 2}})
    assert config.per_type == {"when": {"context_k": 50, "mmr_lambda": 0.9}}
    with pytest.raises(ConfigError, match="lever context_k is a number"):
        RetrievalConfig(per_type={"when": {"context_k": "many"}})


def test_overrides_merge_deeply() -> None:
    first = RetrievalConfig(per_type={"when": {"context_k": 3, "window": 2}})
    second = first.changed(per_type={"when": {"window": 1}, "who": {"context_k": 7}})
    assert second.per_type == {"when": {"context_k": 3, "window": 1}, "who": {"context_k": 7}}
    assert first.per_type == {"when": {"context_k": 3, "window": 2}}


def test_an_override_without_levers_is_none() -> None:
    assert RetrievalConfig(per_type={"when": {}}) == RetrievalConfig()


def test_what_was_handed_in_can_change_without_changing_the_configuration() -> None:
    given_overrides = {"when": {"context_k": 3}}
    config = RetrievalConfig(per_type=given_overrides)
    given_overrides["when"]["context_k"] = 9
    assert config.per_type == {"when": {"context_k": 3}}


def test_the_configuration_of_a_question_type_has_its_overrides_applied() -> None:
    config = RetrievalConfig(window=2, per_type={"when": {"context_k": 3}})
    assert config.for_type("when") == RetrievalConfig(window=2, context_k=3)
    assert config.for_type("who") is config


# -- names and differences


@pytest.mark.parametrize("name", levers())
def test_the_digest_changes_with_every_lever(name: str) -> None:
    changed = RetrievalConfig().changed(**{name: other_value(levers()[name])})
    assert changed.digest != RetrievalConfig().digest
    assert changed.changed(**{name: levers()[name].default}).digest == RetrievalConfig().digest


def test_the_digest_does_not_depend_on_the_order_of_writing() -> None:
    one = RetrievalConfig(per_type={"when": {"window": 2, "context_k": 3}, "who": {"window": 0}})
    other = RetrievalConfig(per_type={"who": {"window": 0}, "when": {"context_k": 3, "window": 2}})
    assert one.digest == other.digest
    assert one.to_toml() == other.to_toml()


def test_the_digest_is_the_same_in_another_process() -> None:
    script = "from memgene.retrieval.config import RetrievalConfig as R; print(R().digest)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == RetrievalConfig().digest


def test_differences_name_levers_overrides_and_weights() -> None:
    one = RetrievalConfig(window=2, per_type={"when": {"context_k": 3}})
    other = RetrievalConfig(
        fusion="learned", ranker=RANKER, per_type={"when": {"context_k": 4}, "who": {"window": 1}}
    )
    assert one.difference(other) == {
        "window": (2, 1),
        "fusion": ("weighted_sum", "learned"),
        "ranker": (None, RANKER.digest),
        "per_type.when.context_k": (3, 4),
        "per_type.who.window": (None, 1),
    }
    assert one.difference(one) == {}


# -- a router

ROUTES = ("dense", "sparse")
ROUTER = Router.fresh(ROUTES, ("length", "digits"), seed=1)
OTHER = Router.fresh(ROUTES, ("length",), seed=2)
ROUTED = RetrievalConfig(fusion="q_rrf", router=ROUTER)


def test_a_router_stands_in_the_file_by_its_digest() -> None:
    assert ROUTED.to_dict()["router"] == ROUTER.digest
    assert "router" not in RetrievalConfig().to_dict()
    assert RetrievalConfig.from_toml(ROUTED.to_toml(), ROUTER) == ROUTED
    assert RetrievalConfig.from_dict(ROUTED.to_dict(), ROUTER) == ROUTED


def test_the_router_that_is_named_must_be_given() -> None:
    with pytest.raises(ConfigError, match=f"names router {ROUTER.digest}, and none was given"):
        RetrievalConfig.from_toml(ROUTED.to_toml())
    with pytest.raises(ConfigError, match=f"and router {OTHER.digest} was given"):
        RetrievalConfig.from_toml(ROUTED.to_toml(), OTHER)
    with pytest.raises(ConfigError, match="names no router"):
        RetrievalConfig.from_toml(RetrievalConfig().to_toml(), ROUTER)


def test_a_router_is_part_of_what_a_configuration_is() -> None:
    plain, other = ROUTED.changed(router=None), ROUTED.changed(router=OTHER)
    assert len({ROUTED.digest, plain.digest, other.digest}) == 3
    assert plain != ROUTED
    assert ROUTED.changed(router=Router.from_bytes(ROUTER.to_bytes())) == ROUTED
    assert ROUTED.difference(plain) == {"router": (ROUTER.digest, None)}
    assert ROUTED.difference(other) == {"router": (ROUTER.digest, OTHER.digest)}
    assert ROUTED.difference(ROUTED) == {}


def test_a_router_serves_questions_of_every_type() -> None:
    typed = ROUTED.changed(per_type={"when": {"context_k": 3}})
    assert typed.for_type("when") == ROUTED.changed(context_k=3)


# -- written and read


def values_of(lever: Lever) -> st.SearchStrategy[Any]:
    if lever.kind is bool:
        return st.booleans()
    if lever.kind is str:
        known = [c for c in lever.choices if c != "learned"]
        return st.sampled_from(known) if known else st.text(max_size=500)
    assert lever.low is not None
    assert lever.high is not None
    if lever.kind is int:
        return st.integers(int(lever.low), int(lever.high))
    return st.floats(lever.low, lever.high)


some_levers = st.fixed_dictionaries(
    {}, optional={name: values_of(lever) for name, lever in levers().items()}
)
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
rankers = st.dictionaries(
    st.text(min_size=1, max_size=8), st.tuples(finite, finite, st.floats(1e-6, 1e6)), min_size=1
).map(
    lambda table: Ranker(
        {n: v[0] for n, v in table.items()},
        {n: v[1] for n, v in table.items()},
        {n: v[2] for n, v in table.items()},
        "answer_tokens",
        3,
    )
)
configs = st.builds(
    lambda values, per_type, ranker: RetrievalConfig(**values, per_type=per_type, ranker=ranker),
    some_levers,
    st.dictionaries(st.sampled_from(QUESTION_TYPES), some_levers, max_size=2),
    st.none() | rankers,
)


@settings(max_examples=50, deadline=None)
@given(configs)
def test_a_configuration_survives_the_round_trip(config: RetrievalConfig) -> None:
    text = config.to_toml()
    back = RetrievalConfig.from_toml(text)
    assert back == config
    assert back.to_toml() == text
    assert back.digest == config.digest
    assert RetrievalConfig.from_dict(config.to_dict()) == config


def test_a_learned_configuration_survives_the_round_trip() -> None:
    config = RetrievalConfig(fusion="learned", ranker=RANKER)
    assert RetrievalConfig.from_toml(config.to_toml()) == config
    assert "learned" in FUSIONS


def test_absent_levers_take_their_defaults() -> None:
    assert RetrievalConfig.from_toml("format = 1\nwindow = 2\n") == RetrievalConfig(window=2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("format = 2", "format 2; this version reads 1"),
        ("window = 2", "format None"),
        ("format = ", "not TOML"),
        ("format = 1\nwindow = 'wide'", "lever window is a number"),
        ("format = 1\n[ranker]\ntarget = 'evidence'", "learned weights lack"),
    ],
)
def test_another_format_and_damaged_files_are_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        RetrievalConfig.from_toml(text)
