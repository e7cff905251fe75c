"""The scripted reflector writes patches that apply, pass the gates, and break as told."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from memgene.evolution.reflection import Material, NoProposalError, Reflector, Scope, strayed
from memgene.llm.protocol import Finish, Request
from memgene.programs.gates.static import check_static
from memgene.programs.normal import normal_hash
from memgene.programs.patching import apply_reply
from memgene.programs.seeds import seed, seed_names
from memgene.testing import ScriptedLLM
from memgene.testing.reflection import Broken, Edit, edited, edits, flawed, scripted_patches, v4a

VECTOR = seed("vector-search").source


def material(source: str, iteration: int) -> Material:
    return Material(source, "p", iteration, 0.5, "token_f1")


def reflector(**script: object) -> Reflector:
    return Reflector(ScriptedLLM(scripted_patches(**script)))  # type: ignore[arg-type]


def constants(source: str) -> dict[str, str]:
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_the_share_of_logic_edits_is_exact_and_spread(share: float) -> None:
    plan = edits(20, share)
    assert Counter(plan)[Edit.LOGIC] == 20 * share
    half = Counter(plan[:10])[Edit.LOGIC]
    assert abs(half - 10 * share) < 1


def test_the_others_take_turns() -> None:
    assert [e for e in edits(10) if e is not Edit.LOGIC] == [
        Edit.RESPONSE,
        Edit.QUERY,
        Edit.ITEM,
        Edit.ALWAYS_ON,
        Edit.SCHEMA,
    ]


@pytest.mark.parametrize("name", seed_names())
@pytest.mark.parametrize("edit", list(Edit))
def test_every_edit_fits_every_seed(name: str, edit: Edit) -> None:
    source = seed(name).source
    after = edited(source, edit, "3.0")
    assert apply_reply(source, v4a(source, after)).source == after
    assert not check_static(after)
    assert normal_hash(after) != normal_hash(source)
    if edit in (Edit.LOGIC, Edit.SCHEMA):
        assert strayed(source, after, Scope.CODE) == ""
        assert constants(after) == constants(source)
    else:
        assert strayed(source, after, Scope.INSTRUCTIONS) == ""


def test_a_line_of_twenty_iterations_keeps_passing() -> None:
    source, hashes = VECTOR, set()
    good = reflector()
    for iteration in range(1, 21):
        source = good.propose(material(source, iteration)).source
        assert not check_static(source)
        hashes.add(normal_hash(source))
    assert len(hashes) == 20


def test_replies_depend_on_the_request_alone() -> None:
    one, other = reflector(), reflector()
    for iteration in (4, 1, 3):
        one.propose(material(VECTOR, iteration))
    third = material(VECTOR, 3)
    assert one.propose(third, seed=5) == other.propose(third, seed=5)
    assert one.propose(third, seed=5) != other.propose(third, seed=6)


def test_a_script_is_begun_anew_at_its_end() -> None:
    short = reflector(script=[Edit.QUERY, Edit.LOGIC])
    titles = [short.propose(material(VECTOR, n)).title for n in (1, 2, 3)]
    assert titles == ["query 1.0", "logic 2.0", "query 3.0"]


@pytest.mark.parametrize("flaw", [Broken.PATCH, Broken.TRUNCATED, Broken.EMPTY, Broken.PROSE])
def test_such_a_reply_is_refused_and_the_next_one_is_good(flaw: Broken) -> None:
    model = ScriptedLLM(scripted_patches(broken={2: flaw}))
    made = Reflector(model).propose(material(VECTOR, 2))
    assert made.attempts == 2
    assert not check_static(made.source)
    with pytest.raises(NoProposalError):
        Reflector(model, attempts=1).propose(material(VECTOR, 2))
    assert Reflector(model, attempts=1).propose(material(VECTOR, 1)).attempts == 1


def test_a_truncated_reply_says_so() -> None:
    model = ScriptedLLM(scripted_patches(broken={1: Broken.TRUNCATED}))
    Reflector(model).propose(material(VECTOR, 1))
    reply = scripted_patches(broken={1: Broken.TRUNCATED})(model.requests[0])
    assert reply.finish is Finish.LENGTH
    assert "*** End Patch" not in reply.text


@pytest.mark.parametrize(
    ("flaw", "code"), [(Broken.SYNTAX, "syntax"), (Broken.IMPORT, "import-not-allowed")]
)
def test_a_flaw_for_the_static_gate_is_found_and_mended(flaw: Broken, code: str) -> None:
    model = reflector(broken={1: flaw})
    made = model.propose(material(VECTOR, 1))
    findings = check_static(made.source)
    assert code in [finding.code for finding in findings]
    mended = model.repair(made.source, "\n".join(map(str, findings)), 3)
    assert not check_static(mended.source)
    stubborn = reflector(broken={1: flaw}, repairs=False)
    assert check_static(stubborn.repair(made.source, "wrong", 3).source)


@pytest.mark.parametrize("flaw", [Broken.RAISES, Broken.LATE, Broken.TOO_LONG])
def test_a_flaw_of_the_running_program_passes_the_static_gate(flaw: Broken) -> None:
    model = reflector(broken={1: flaw})
    made = model.propose(material(VECTOR, 1))
    assert not check_static(made.source)
    mended = model.repair(made.source, "wrong", 3).source
    assert mended == edited(VECTOR, Edit.RESPONSE, "1.0")


def test_a_change_without_effect_has_the_hash_of_its_parent() -> None:
    made = reflector(broken={1: Broken.NO_EFFECT}).propose(material(VECTOR, 1))
    assert made.source != VECTOR
    assert normal_hash(made.source) == normal_hash(VECTOR)
    assert flawed(VECTOR, Broken.NO_EFFECT) == made.source


def test_tokens_are_counted() -> None:
    seen: list[Request] = []
    script = scripted_patches()
    model = ScriptedLLM(lambda request: seen.append(request) or script(request))  # type: ignore[func-returns-value]
    made = Reflector(model).propose(material(VECTOR, 1))
    assert made.tokens > sum(len(m.content) for m in seen[0].messages) // 4
