"""V4A patches as models write them: what is understood, what is refused, and with what words."""

from __future__ import annotations

from typing import Any

import pytest

from memgene.llm import Finish
from memgene.programs.patching import PatchError, PatchFault, apply_reply


def patch(*lines: str, head: str = "*** Update File: program.py") -> str:
    return "\n".join(["*** Begin Patch", head, *lines, "*** End Patch", ""])


def refused(source: str, reply: str, **options: Any) -> PatchError:
    with pytest.raises(PatchError) as caught:
        apply_reply(source, reply, **options)
    return caught.value


CHANGE = ("@@", "     def read(self, query):", "-        text = query.note.strip()")
ADDED = "+        text = query.note.lower()"
WANTED = ("        text = query.note.strip()", "        text = query.note.lower()")


def test_kept_removed_and_added_lines(program: str) -> None:
    patched = apply_reply(program, patch(*CHANGE, ADDED))
    assert patched.source == program.replace(*WANTED)


@pytest.mark.parametrize(
    "reply",
    [
        "```\n" + patch(*CHANGE, ADDED) + "```\n",
        "```diff\n" + patch(*CHANGE, ADDED).replace("*** Begin", "***Begin") + "```",
        patch("```python", *CHANGE, ADDED, "```"),
        patch(*CHANGE, ADDED).replace("\n", "\r\n"),
        patch(*CHANGE, ADDED).replace("*** Begin Patch\n", ""),
        patch(*CHANGE, ADDED, head="*** Update File: ./work/program.py"),
        patch(*CHANGE, ADDED, head="--- a/program.py\n+++ b/program.py"),
        patch("@@ -28,2 +28,2 @@ class KnowledgeBase:", *CHANGE[1:], ADDED),
        patch("@@ somewhere in the reading part @@", *CHANGE[1:], ADDED),
        patch("@@ def write", *CHANGE[1:], ADDED),  # a wrong hint; the place is certain
        patch(*CHANGE[1:], ADDED),
        patch(*CHANGE, ADDED, "", ""),
        patch(*CHANGE, ADDED, "\\ No newline at end of file"),
        patch(*CHANGE, ADDED, "*** End of File"),
        patch("@@", "     def read(self, query):   ", *CHANGE[2:], ADDED),
        patch("@@", "    def read(self, query):", *CHANGE[2:], ADDED),  # no space before it
        patch("@@", *(line[:1] + line[5:] for line in (*CHANGE[1:], ADDED))),  # less indented
        patch("@@", " \tdef read(self, query):", "-\t\ttext = query.note.strip()", ADDED),
        "<think>\n*** Begin Patch\nno, wait\n</think>\n" + patch(*CHANGE, ADDED),
        patch(*CHANGE, ADDED) + patch(*CHANGE, ADDED),
        "```diff\n--- a/program.py\n+++ b/program.py\n@@ -1,2 +1,2 @@\n"
        + "\n".join([*CHANGE[1:], ADDED])
        + "\n```\n",
    ],
)  # fmt: skip
def test_what_models_write_is_understood(program: str, reply: str) -> None:
    assert apply_reply(program, reply).source == program.replace(*WANTED)


def test_several_hunks_and_sections_are_applied_together(program: str) -> None:
    reply = patch(
        "@@",
        '-INSTRUCTION_QUERY = "Ask for it."',
        '+INSTRUCTION_QUERY = "Name it."',
        "@@ def read",
        "-        text = query.note.strip()",
        "*** Update File: program.py",
        "@@ def write",
        "         self.notes.append(text)",
        "+        self.toolkit.logger.debug(text)",
    )
    patched = apply_reply(program, reply).source
    assert patched == program.replace('"Ask for it."', '"Name it."').replace(
        "        text = query.note.strip()\n", ""
    ).replace("append(text)", "append(text)\n        self.toolkit.logger.debug(text)")


def test_added_lines_move_with_a_patch_that_is_indented_otherwise(program: str) -> None:
    reply = patch(
        "@@",
        " def read(self, query):",
        "-    text = query.note.strip()",
        "+    if not query.note:",
        '+        return ""',
        "     return",
    ).replace("     return\n", '     return "\\n".join(self.notes)\n')
    expected = '        if not query.note:\n            return ""'
    assert apply_reply(program, reply).source == program.replace(WANTED[0], expected)


def test_tabs_stay_tabs() -> None:
    source = "def f():\n\tx = 1\n\treturn x\n"
    reply = patch("@@", " def f():", "     x = 1", "+    y = 2", "     return x")
    assert apply_reply(source, reply).source == "def f():\n\tx = 1\n\ty = 2\n\treturn x\n"


def test_kept_lines_stay_as_the_program_has_them() -> None:
    source = "a = 1  \nb = 2\nc = 3\n"
    assert apply_reply(source, patch("@@", " a = 1", "-b = 2", "+b = 4")).source == (
        "a = 1  \nb = 4\nc = 3\n"
    )


def test_half_characters_of_a_reply_are_replaced() -> None:
    assert apply_reply("a\n", patch("@@", "-a", "+'\ud83d'")).source == "'?'\n"


def test_a_missing_newline_at_the_end_stays_missing() -> None:
    assert apply_reply("a\nb", patch("@@", "-b", "+c")).source == "a\nc"


def test_a_hint_chooses_between_places_where_it_leaves_one(program: str) -> None:
    lines = ("-    note: str", "+    words: list[str]")
    assert (
        "class Query:\n    words: list[str]"
        in apply_reply(program, patch("@@ class Query:", *lines)).source
    )
    source = (
        "class A:\n    def f(self):\n        x = 1\n\n\nclass B:\n    def f(self):\n        x = 1\n"
    )
    chosen = apply_reply(
        source, patch("@@ class B:", "@@     def f(self):", "-        x = 1", "+        x = 2")
    )
    assert chosen.source == source[:-2] + "2\n"


def test_several_places_are_named_and_none_is_guessed(program: str) -> None:
    error = refused(program, patch("@@", "-    note: str", "+    words: list[str]"))
    assert error.fault is PatchFault.AMBIGUOUS
    assert "line 11 (in KnowledgeItem), line 16 (in Query)" in str(error)
    error = refused("x\ny\nx\ny\n", patch("@@ def nowhere", "-x", "+z"))
    assert "fits in 2 places: line 1, line 3" in str(error)
    error = refused("def f():\n    x\n    x\n", patch("@@ def f", "-    x", "+    z"))
    assert error.fault is PatchFault.AMBIGUOUS


def test_an_empty_line_at_the_end_of_a_hunk_decides_nothing() -> None:
    assert refused("x\n\nx\ny\n", patch("@@", "-x", "+z", "")).fault is PatchFault.AMBIGUOUS


def test_the_end_of_the_file_chooses_and_allows_pure_additions() -> None:
    assert (
        apply_reply("x\ny\nx\n", patch("@@", "-x", "+z", "*** End of File")).source == "x\ny\nz\n"
    )
    assert apply_reply("x\n", patch("@@", "+y", "*** End of File")).source == "x\ny\n"
    assert refused("x\n", patch("@@", "+y")).fault is PatchFault.AMBIGUOUS


def test_lines_that_are_not_there_are_answered_with_the_nearest(program: str) -> None:
    error = refused(
        program,
        patch(
            "@@", "     def read(self, query):", "-        text = query.text.strip()", "+        x"
        ),
    )
    assert error.fault is PatchFault.NOT_FOUND
    assert str(error).endswith(
        "Nearest are lines 28-29 (- as your patch has it, + as it stands in the program):\n"
        "     def read(self, query):\n"
        "-        text = query.text.strip()\n"
        "+        text = query.note.strip()"
    )
    error = refused(program, patch("@@", "-completely(different, words)", "+x"))
    assert "Nothing in it is similar" in str(error)


def test_an_addition_that_would_stand_left_of_the_margin_is_no_place() -> None:
    reply = patch("@@", " " * 9 + "if a:", "-" + " " * 12 + "b", "+    c")
    assert refused("if a:\n    b\n", reply).fault is PatchFault.NOT_FOUND


def test_two_hunks_on_one_line_are_a_conflict() -> None:
    reply = patch("@@", "-a", "+b", "@@", "-a", "+c")
    assert refused("a\n", reply).fault is PatchFault.CONFLICT
    error = refused("a\nb\n", patch("@@", " a", "+x", " b", "@@", " a", "+y"))
    assert "hunk 1 and hunk 2 both change line 2" in str(error)


def test_hunks_may_share_lines_they_keep() -> None:
    reply = patch("@@", "-a", "+A", " b", "@@", " b", "-c", "+C")
    assert apply_reply("a\nb\nc\n", reply).source == "A\nb\nC\n"


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", PatchFault.EMPTY),
        (" \n\t", PatchFault.EMPTY),
        ("I would leave it as it is.", PatchFault.NO_CHANGE),
        (patch("@@", " import re"), PatchFault.NO_CHANGE),
        (patch("@@", "-a", "+a"), PatchFault.NO_CHANGE),
        (patch("@@", "-a"), PatchFault.NO_CHANGE),  # it would leave nothing
        (patch("@@", "-a", "+b").replace("*** End Patch", ""), PatchFault.TRUNCATED),
        ("```diff\n-a\n+b\n", PatchFault.TRUNCATED),
        ("<think>\n" + patch("@@", "-a", "+b"), PatchFault.TRUNCATED),
        (patch("*** Replace", "-a", "+b"), PatchFault.MALFORMED),
        (patch("@@", "-a", "+b", head="*** Add File: notes.py"), PatchFault.OTHER_FILE),
        (patch(head="*** Delete File: other.py"), PatchFault.OTHER_FILE),
        (patch("@@", "-a", "+b", "*** Add File: other.py", "+x"), PatchFault.OTHER_FILE),
        (patch("*** Move to: other.py", "@@", "-a", "+b"), PatchFault.OTHER_FILE),
    ],
)
def test_replies_without_a_usable_patch_are_refused(reply: str, fault: PatchFault) -> None:
    assert refused("a\n", reply).fault is fault


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.OTHER])
def test_a_reply_that_was_cut_off_is_refused_whatever_it_holds(finish: Finish) -> None:
    assert refused("a\n", patch("@@", "-a", "+b"), finish=finish).fault is PatchFault.TRUNCATED


def test_nothing_is_applied_where_one_hunk_fails() -> None:
    error = refused("a\nb\n", patch("@@", "-a", "+A", "@@", "-c", "+C"))
    assert error.fault is PatchFault.NOT_FOUND
    assert str(error).startswith("hunk 2 does not fit")
