"""SEARCH/REPLACE blocks, whole programs, and the message that comes with a change."""

from __future__ import annotations

import pytest

from memgene.programs.patching import Form, PatchError, PatchFault, apply_reply


def block(old: str, new: str) -> str:
    return f"<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def fault(source: str, reply: str) -> tuple[PatchFault, str]:
    with pytest.raises(PatchError) as caught:
        apply_reply(source, reply)
    return caught.value.fault, str(caught.value)


def test_blocks_are_looked_up_as_hunks_are(program: str) -> None:
    reply = (
        "Ask in another way\n\n- the query was vague\n\nprogram.py\n```python\n"
        + block('INSTRUCTION_QUERY = "Ask for it."\n', 'INSTRUCTION_QUERY = "Name it."\n')
        + "```\nand\n"
        + block(
            "def write(self, item, raw_text):\n    text = item.note.strip()\n",
            "def write(self, item, raw_text):\n    text = item.note\n",
        )
    )
    patched = apply_reply(program, reply)
    assert patched.source == program.replace('"Ask for it."', '"Name it."').replace(
        "item.note.strip()", "item.note"
    )
    assert (patched.title, patched.body) == ("Ask in another way", "- the query was vague")
    assert patched.form is Form.BLOCKS


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (block("a\n", "b\n")[:-9], PatchFault.TRUNCATED, "has no >>>>>>> REPLACE"),
        (
            block("a\n", "b\n") + "<<<<<<< SEA",
            PatchFault.TRUNCATED,
            "block 2 has no <<<<<<< SEARCH",
        ),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", PatchFault.MALFORMED, "has no line of ======="),
        (block("a\n", "b\n=======\nc\n"), PatchFault.MALFORMED, "more than one line of ======="),
        ("<<<<<<< SEARCH\na\n" + block("a\n", "b\n"), PatchFault.MALFORMED, "another block begins"),
        (block("a\n", "a\n"), PatchFault.NO_CHANGE, "SEARCH and REPLACE are the same"),
        (block("", "b\n"), PatchFault.AMBIGUOUS, "block 1 only adds lines"),
        (block("b\n", "c\n"), PatchFault.NOT_FOUND, "block 1 does not fit"),
    ],
)
def test_unusable_blocks_are_refused(reply: str, kind: PatchFault, words: str) -> None:
    found, message = fault("a\n", reply)
    assert (found, words in message) == (kind, True), message


@pytest.mark.parametrize(
    "wrap",
    [
        "Better.\n\n```python\n{}```\n",
        "Better.\n\n```\n{}```\nThat is all.",
        "Better.\n\nBefore:\n```python\nx = 1\n```\nAfter:\n```py\n{}```\n",
        "Better.\n\n{}",
        "*** Begin Patch\n*** Add File: program.py\n{}*** End Patch\n",
        "*** Begin Patch\n*** Delete File: program.py\n*** Add File: program.py\n{}*** End Patch\n",
        "*** Begin Patch\n*** Update File: program.py\n@@\n{}*** End Patch\n",
    ],
)
def test_a_whole_program_replaces_the_old_one(program: str, wrap: str) -> None:
    new = program.replace(".strip()", "")
    lines = "".join(f"+{line}\n" for line in new.splitlines()) if "***" in wrap else new
    patched = apply_reply(program, wrap.format(lines))
    assert (patched.source, patched.form) == (new, Form.WHOLE)


def test_fences_inside_a_program_do_not_end_it(program: str) -> None:
    new = program + 'PROMPT = """\n```\n{text}\n```\n"""\n'
    assert apply_reply(program, f"New:\n```python\n{new}```\n").source == new


def test_a_whole_program_with_a_mistake_is_for_the_gates_to_judge(program: str) -> None:
    new = program.replace("def read(self, query):", "def read(self, query:")
    assert apply_reply(program, f"```python\n{new}```\n").source == new


def test_what_is_no_whole_program_is_refused(program: str) -> None:
    part = "```python\nclass KnowledgeBase:\n    pass\n```\n"
    found, message = fault(program, part)
    assert found is PatchFault.MALFORMED
    assert "it lacks KnowledgeItem, Query, INSTRUCTION_KNOWLEDGE_ITEM" in message
    assert fault(program, f"```python\n{program}")[0] is PatchFault.TRUNCATED
    assert fault(program, f"```python\n{program}\n```")[0] is PatchFault.NO_CHANGE
    two = "".join(f"```python\n{program}{name} = 1\n```\n" for name in "AB")
    assert fault(program, two)[0] is PatchFault.AMBIGUOUS
    found, message = fault(program, f"Here it is:\n\n{program.replace('query):', 'query:')}")
    assert (found, "no Python" in message) == (PatchFault.MALFORMED, True)


CHANGE = "*** Begin Patch\n*** Update File: program.py\n@@\n-a\n+b\n*** End Patch\n"


@pytest.mark.parametrize(
    ("before", "title", "body"),
    [
        ("*** Commit Message\nTitle: Use b\n- a bad\n- b good\n\n", "Use b", "- a bad\n- b good"),
        ("First some thoughts.\n\n*** Commit Message\nTitle: Use b\n", "Use b", ""),
        ("*** Commit Message\nUse b\n- why\n", "Use b", "- why"),
        ("```\n*** Commit Message\nTitle: Use b\n- why\n```\n", "Use b", "- why"),
        ("## Use b\n\nBecause a was wrong.\n", "Use b", "Because a was wrong."),
        ("**Title:** Use b\n\n* why\n", "Use b", "* why"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_message_before_the_change(before: str, title: str, body: str) -> None:
    patched = apply_reply("a\n", before + CHANGE)
    assert (patched.source, patched.title, patched.body) == ("b\n", title, body)


def test_a_message_may_follow_the_change() -> None:
    assert apply_reply("a\n", CHANGE + "\n*** Commit Message\nTitle: Use b\n").title == "Use b"
