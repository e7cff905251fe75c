"""Whatever two texts differ in, a patch made of the difference gives the second from the first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.programs.patching import Form, PatchError, apply_reply

ODD = ("- item", "-- sql", "+ more", "@@ def f", "*** End Patch", "*** Begin Patch", "```")
LINES = st.sampled_from(
    ["", " ", "a = 1", "    a = 1", "    a = 1 ", "\tb", "def f():", "    return x", "x", "y", *ODD]
)
TEXTS = st.lists(LINES, min_size=1, max_size=14).map(lambda lines: "\n".join(lines) + "\n")
PLAIN = st.lists(
    st.sampled_from(["", "a", "b", "    c", "    d", "        e", "f  "]), min_size=1, max_size=14
).map(lambda lines: "\n".join(lines) + "\n")


@given(old=TEXTS | st.just(""), new=TEXTS, context=st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_a_v4a_patch_of_any_two_texts(writer: Any, old: str, new: str, context: int) -> None:
    if old == new or not new.strip():
        return
    patched = apply_reply(old, writer.v4a(old, new, context))
    assert patched.source == new
    assert (patched.title, patched.form) == ("change it", Form.V4A)


@given(old=PLAIN, new=PLAIN, context=st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_blocks_of_any_two_texts(writer: Any, old: str, new: str, context: int) -> None:
    if old == new or not new.strip():
        return
    patched = apply_reply(old, writer.blocks(old, new, context))
    assert (patched.source, patched.form) == (new, Form.BLOCKS)


@given(old=TEXTS, new=TEXTS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_cut_of_a_patch_is_refused(writer: Any, old: str, new: str, data: Any) -> None:
    if old == new or not new.strip():
        return
    reply = writer.v4a(old, new).rstrip("\n")
    cut = data.draw(st.integers(0, len(reply) - 1))
    with pytest.raises(PatchError):
        apply_reply(old, reply[:cut])


@given(
    names=st.lists(st.sampled_from("abcdefghij"), min_size=4, max_size=10, unique=True),
    data=st.data(),
)
@settings(max_examples=100, deadline=None)
def test_drifted_patches_leave_all_other_lines_as_they_are(
    writer: Any, names: list[str], data: Any
) -> None:
    """A patch indented by some columns more or less, or without blanks at line ends."""
    old = [f"        {name}{data.draw(st.sampled_from(['', '  ']))}" for name in names]
    place = data.draw(st.integers(1, len(old) - 2))
    new = [*old[:place], "        new = 1", "            deeper", *old[place + 1 :]]
    drift = data.draw(st.integers(-8, 8))

    def moved(line: str) -> str:
        body = line.rstrip()
        return " " * drift + body if drift >= 0 else body[-drift:]

    lines = [f" {moved(old[place - 1])}", f"-{moved(old[place])}"]
    lines += [f"+{moved(line)}" for line in new[place : place + 2]]
    lines.append(f" {moved(old[place + 1])}")
    patch = "*** Begin Patch\n*** Update File: program.py\n@@\n" + "\n".join(lines)
    source = "\n".join(old) + "\n"
    assert apply_reply(source, f"{patch}\n*** End Patch").source == "\n".join(new) + "\n"


def test_real_programs_round_trip_in_all_forms(
    writer: Any, real_edits: list[tuple[str, str]]
) -> None:
    for old, new in real_edits:
        for form, reply in (
            (Form.V4A, writer.v4a(old, new)),
            (Form.BLOCKS, writer.blocks(old, new)),
            (Form.WHOLE, writer.whole(new)),
        ):
            patched = apply_reply(old, reply)
            assert (patched.source, patched.form) == (new, form)


@pytest.mark.parametrize("form", ["v4a", "blocks"])
def test_no_cut_of_a_real_edit_is_applied(writer: Any, form: str) -> None:
    old = writer.program
    new = old.replace("item.note.strip()", "item.note.lower()").replace('"Ask for it."', '"Ask."')
    reply = getattr(writer, form)(old, new).rstrip("\n")
    for cut in range(len(reply)):
        if form == "blocks" and reply[:cut].rstrip().endswith(">>>>>>> REPLACE"):
            continue  # every block that is there is whole
        with pytest.raises(PatchError):
            apply_reply(old, reply[:cut])
    assert apply_reply(old, reply).source == new
