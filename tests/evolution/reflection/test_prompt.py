"""The reflection prompt: every section that has something to say, never longer than allowed."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, replace
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.evolution.reflection.material import (
    LineageEntry,
    Material,
    Reference,
    Scope,
    ShownCase,
    ShownViolation,
    ShownWrite,
    ToolkitNotes,
)
from memgene.evolution.reflection.prompt import (
    PromptTooLongError,
    reflection_messages,
    repair_messages,
)
from memgene.llm.protocol import ChatMessage, Request
from memgene.llm.role import prompt_tokens
from memgene.programs.allowed import ALLOWED_IMPORTS
from memgene.programs.guest.bank import BankHit, BankTool
from memgene.programs.guest.chroma.client import ChromaClient
from memgene.programs.guest.chroma.collection import Collection
from memgene.programs.guest.toolkit import Toolkit
from memgene.programs.patching import apply_reply
from memgene.programs.program import ProgramLimits
from memgene.programs.syntax import CLASSES, CONSTANTS

ALL = [
    "Current program (iteration 7)",
    "Its score",
    "What was tried before",
    "How episodes were written",
    "Notes of the program",
    "Cases that succeed",
    "Other programs",
    "Failures of the program",
    "Failing cases",
    "Now",
]
NOTHING: dict[str, Any] = {
    "lineage": (),
    "writes": (),
    "logs": (),
    "successes": (),
    "references": (),
    "violations": (),
    "failing": (),
}


class Make(Protocol):
    def __call__(self, **given: Any) -> Material: ...


def size(messages: tuple[ChatMessage, ...]) -> int:
    return prompt_tokens(Request(messages))


def user(material: Material, max_tokens: int = 24_000) -> str:
    system, told = reflection_messages(material, max_tokens)
    assert (system.role, told.role) == ("system", "user")
    return told.content


def headings(text: str) -> list[str]:
    """Those outside of fences."""
    return re.findall(r"^# (.+)$", re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.M | re.S), re.M)


def section(text: str, title: str) -> str:
    return text.split(f"# {title}\n", 1)[1].split("\n\n# ", 1)[0].strip()


def test_sections_stand_in_order(material: Make) -> None:
    assert headings(user(material())) == ALL


def test_sections_without_data_are_left_out(material: Make) -> None:
    assert headings(user(material(**NOTHING))) == [*ALL[:2], "Now"]
    assert "No failing case is at hand" in user(material(**NOTHING))


def test_the_program_is_shown_as_it_is(material: Make, source: str) -> None:
    assert f"```python\n{source}```" in user(material())


def test_a_fence_inside_what_is_shown_closes_nothing(material: Make) -> None:
    told = user(material(source='NOTE = """\n```\n# Now\n```\n"""\n'))
    assert "````python\nNOTE" in told
    assert headings(told) == ALL


def test_the_score_names_metric_and_task(material: Make) -> None:
    assert section(user(material()), "Its score") == (
        "Mean token_f1 (words shared with the right answer) on questions that are not shown: "
        "0.412\n\nThe task: Two people talk over months."
    )


def test_the_lineage_reads_like_a_log_with_regressions_marked(material: Make) -> None:
    log = section(user(material()), "What was tried before").split("```")[1].strip()
    assert log == (
        "p0 score 0.300\n"
        "    Vector seed\n"
        "p2 (the current program) from p0 score 0.412 (+0.112)\n"
        "    Keep all\n"
        "    - Cause: lost\n"
        "    - Change: kept\n"
        "p4 from p2 score 0.200 (-0.212) REGRESSION\n"
        "    Keep ten\n"
        "    - Cause: slow\n"
        "p5 from p2 REFUSED: the same as p4\n"
        "    Keep two"
    )


def test_a_failing_case_shows_the_whole_exchange(material: Make) -> None:
    told = section(user(material()), "Failing cases")
    assert told == (
        "### Case 1: score 0.00\n"
        "```\n"
        "Question: Where is the boat?\n"
        "Expected: in Porto / Porto\n"
        "Answered: unknown\n"
        "\n"
        "The conversation:\n"
        "[user] Look it up.\n"
        '[assistant] {"query_text": "boat"}\n'
        "[user] Kim: I sold the boat.\n"
        "[assistant] unknown\n"
        "```\n\n"
        "### Case 2: score 0.25\n"
        "```\n"
        "Question: When was that?\n"
        "Expected: (nothing: it cannot be answered)\n"
        "Answered: (nothing)\n"
        "Failure: read: took longer than 60 s\n"
        "```"
    )


def test_other_programs_say_whether_they_are_better(material: Make) -> None:
    told = section(user(material()), "Other programs")
    assert "### p1: 0.500, better than this program\n```python\nHIGHER = 1\n```" in told
    assert "### p3: 0.100, worse than this program" in told


def test_failures_say_where_and_how_often(material: Make) -> None:
    told = section(user(material()), "Failures of the program")
    assert "In `read` (3 times): IndexError: list index\n```\nline 9, in read\n```" in told


def test_of_a_long_conversation_both_ends_are_shown(material: Make) -> None:
    turns = tuple(("user", f"turn {n}.") for n in range(40))
    told = user(material(failing=(ShownCase("q", ("a",), "b", 0.0, turns),)))
    assert re.findall(r"turn (\d+)\.|(\[\.\.\. \d+ turns)", told) == [
        *[(str(n), "") for n in range(6)],
        ("", "[... 28 turns"),
        *[(str(n), "") for n in range(34, 40)],
    ]


def test_the_interface_tells_what_this_run_offers(material: Make) -> None:
    def interface(**given: Any) -> str:
        return reflection_messages(material(toolkit=ToolkitNotes(**given)))[0].content

    assert f"Imports: {', '.join(ALLOWED_IMPORTS)}." in interface()
    assert "at most 3000 characters" in interface()
    assert "one call in each `write`" in interface()
    other = interface(limits=ProgramLimits(read_characters=500, call_seconds=2.5, llm_calls=3))
    assert "at most 500 characters" in other
    assert "compute for 2.5 seconds" in other
    assert "3 calls in each `write`" in other
    assert "there is no language model" in interface(llm=False)
    assert "there is no language model" in interface(limits=ProgramLimits(llm_calls=0))
    assert "toolkit.bank" in interface()
    assert "toolkit.bank" not in interface(bank=False)
    assert "a set of rules" in interface(agent="offline")
    assert "a set of rules" not in interface()


@pytest.mark.parametrize(
    ("scope", "rule"),
    [
        (Scope.BOTH, "Work on both sides together"),
        (Scope.INSTRUCTIONS, "Only the four strings may change"),
        (Scope.CODE, "Only fields and code may change"),
    ],
)
def test_the_rules_name_what_may_change(material: Make, scope: Scope, rule: str) -> None:
    system, _ = reflection_messages(material(scope=scope))
    assert f"\n2. {rule}" in system.content


def test_strings_that_nobody_reads_are_not_worked_on(material: Make) -> None:
    system, _ = reflection_messages(material(toolkit=ToolkitNotes(agent="offline")))
    assert "nobody reads the four strings here" in system.content
    assert "Work on both sides" not in system.content


def test_half_characters_do_not_reach_a_model(material: Make) -> None:
    told = user(material(logs=("broken \ud83d here",)))
    assert "broken ? here" in told


def long(material: Make) -> Material:
    """Much of everything."""
    text = "words and more " * 150
    turns = (("user", text * 2), ("assistant", text), ("user", text), ("assistant", text))
    return material(
        references=tuple(Reference(f"r{n}", 0.5, f"A = {n}\n" * 200, True) for n in range(3)),
        logs=tuple(f"note {n} {text}" for n in range(60)),
        lineage=tuple(
            LineageEntry(f"c{n}", f"c{n - 1}", f"title {n}", text, 0.1, 0.0) for n in range(30)
        ),
        successes=(ShownCase(text, (text,), text, 1.0, turns),) * 2,
        writes=(ShownWrite(text, text),) * 4,
        failing=(
            ShownCase("FIRST?", (text,), text, 0.0, turns),
            ShownCase("SECOND?", (text,), text, 0.1, turns),
        ),
        violations=(ShownViolation("read", text, text),) * 6,
    )


def features(text: str) -> dict[str, object]:
    """What of each section is there, as far as it can be counted."""
    count = lambda pattern: len(re.findall(pattern, text, re.M))  # noqa: E731
    return {
        "references": count(r"^### r\d"),
        "logs": count(r"^note \d"),
        "messages": count(r"^    words"),
        "lineage": count(r"^c\d+ from"),
        "successes": count(r"^### Case \d: score 1\.00"),
        "writes": count(r"^Episode:"),
        "conversation": len(text.split("FIRST?")[1].split("### Case 2")[0].split("\n# ")[0]),
        "failing": count(r"^### Case \d: score 0\.\d\d"),
        "violations": count(r"^In `read`"),
    }


def test_what_is_least_useful_goes_first(material: Make) -> None:
    """With less and less room, each part begins to shrink only after those before it are gone."""
    order = ["references", "logs", "messages", "lineage", "successes", "writes", "conversation"]
    first = reflection_messages(long(material), 200_000)
    begun: list[str] = []
    before = features(first[1].content)
    whole = dict(before)
    for room in range(size(first) - 1, 2_600, -250):
        now = features(user(long(material), room))
        for name in now:
            if now[name] != before[name] and name not in begun:
                begun.append(name)
        for name in order[: max((order.index(b) for b in begun if b in order), default=0)]:
            assert now[name] == 0, f"{name} at {room}"
        before = now
    assert begun[:7] == order
    assert sorted(begun[7:]) == ["failing", "violations"]
    assert begun[7] == "failing"
    assert whole["lineage"] == 24
    assert before["failing"] == 1
    assert before["violations"] == 0


def test_the_shortest_form_keeps_program_score_and_one_failing_case(material: Make) -> None:
    with pytest.raises(PromptTooLongError, match=r"needs \d+ tokens, 100 are allowed") as refused:
        reflection_messages(long(material), 100)
    found = re.search(r"needs (\d+) tokens", str(refused.value))
    assert found is not None
    least = int(found[1])
    told = reflection_messages(long(material), least)
    assert size(told) == least
    assert headings(told[1].content) == [*ALL[:2], "Failing cases", "Now"]
    assert "FIRST?" in told[1].content
    with pytest.raises(PromptTooLongError):
        reflection_messages(long(material), least - 1)


TEXT = st.text(st.characters(), max_size=3_000)


@given(
    text=TEXT,
    other=TEXT,
    count=st.integers(0, 5),
    room=st.integers(2_300, 9_000),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_prompt_is_never_too_long_and_always_the_same(
    material: Make, text: str, other: str, count: int, room: int
) -> None:
    case = ShownCase(text, (other,) * count, other, 0.0, (("user", text), ("assistant", other)))
    made = material(
        references=(Reference("r", 0.1, other, True),) * count,
        logs=(text, other) * count,
        lineage=(LineageEntry("x", None, text, other, 0.5, refused=other),) * count,
        successes=(case,) * count,
        writes=(ShownWrite(text, other),) * count,
        violations=(ShownViolation("read", text, other),) * count,
        failing=(case,) * count,
    )
    try:
        told = reflection_messages(made, room)
    except PromptTooLongError as error:
        found = re.search(r"needs (\d+) tokens", str(error))
        assert found is not None
        assert int(found[1]) > room
        room = int(found[1])
        told = reflection_messages(made, room)
    assert size(told) <= room
    assert told == reflection_messages(made, room)
    assert made.source.rstrip() in told[1].content
    assert len(reflection_messages(made, room + 500)[1].content.encode()) >= len(
        told[1].content.encode()
    )


def test_a_repair_shows_program_findings_and_nothing_else(source: str) -> None:
    system, told = repair_messages(source, "static/syntax (line 3): oops", toolkit=ToolkitNotes())
    assert "You repair memory programs" in system.content
    assert "# How a memory program works" in system.content
    assert headings(told.content) == ["Program", "What is wrong", "Now"]
    assert f"```python\n{source}```" in told.content
    assert "```\nstatic/syntax (line 3): oops\n```" in told.content


def test_a_repair_of_one_side_says_so(source: str) -> None:
    *_, told = repair_messages(source, "x", toolkit=ToolkitNotes(), scope=Scope.CODE)
    assert told.content.endswith("The four strings stay exactly as they are.")


def test_long_findings_are_shortened_before_a_repair_is_refused(source: str) -> None:
    def asked(room: int) -> tuple[ChatMessage, ...]:
        return repair_messages(source, "wrong " * 9_000, toolkit=ToolkitNotes(), max_tokens=room)

    assert 2_500 < size(asked(4_000)) <= 4_000
    with pytest.raises(PromptTooLongError, match=r"needs \d+ tokens, 500 are allowed"):
        asked(500)


def test_numbers_of_one_iteration_differ_only_there(material: Make) -> None:
    one, two = material(), replace(material(), iteration=8)
    assert user(one).replace("(iteration 7)", "(iteration 8)") == user(two)
    assert reflection_messages(one)[0] == reflection_messages(two)[0]


def test_the_patch_in_the_form_can_be_applied(material: Make) -> None:
    system, _ = reflection_messages(material())
    start, end = system.content.index("*** Commit"), system.content.index("*** End Patch")
    shown = system.content[start : end + len("*** End Patch")]
    before = "class KnowledgeBase:\n    def read(self, query):\n        rows = self.rows\n"
    made = apply_reply(f"{before}        return rows[0]\n", shown)
    assert made.source.endswith("older ones are history.\n        return rows[-1]\n")
    assert made.title == "what changed and what for, in one line"
    assert made.body.startswith("- Cause: ")


def test_every_name_of_the_contract_is_explained(material: Make) -> None:
    system, _ = reflection_messages(material())
    for name in (*CLASSES, *CONSTANTS):
        assert f"| `{name}` |" in system.content
    for kind in ("str", "int", "float", "bool", "list[str]", "Optional[str]"):
        assert f"`{kind}`" in system.content


def test_the_toolkit_has_what_the_interface_names(material: Make) -> None:
    """Names in backticks after each tool are methods of the real thing."""
    system, _ = reflection_messages(material())
    tools = system.content.split("## Toolkit")[1].split("## Limits")[0]
    chroma = tools.split("`toolkit.chroma`")[1].split("\n- ")[0]
    assert hasattr(ChromaClient, "get_or_create_collection")
    for name in re.findall(r"`(\w+)(?:\([^`]*\))?`", chroma.split("then")[1]):
        assert hasattr(Collection, name), name
    bank = tools.split("`toolkit.bank`")[1].split("\n- ")[0]
    for name, taking in re.findall(r"`(\w+)\(([^`]*)\)`", bank):
        taken = inspect.signature(getattr(BankTool, name)).parameters
        assert set(re.findall(r"(\w+)=", taking)) <= set(taken), name
    for name in re.findall(r"`\.(\w+)`", bank):
        assert name in {field.name for field in fields(BankHit)}, name
    for name in re.findall(r"`toolkit\.(\w+)", tools):
        assert name == "logger" or hasattr(Toolkit, name), name
