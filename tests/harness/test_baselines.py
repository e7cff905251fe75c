"""The baselines that do not search: nothing, everything, the latest."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgene.core import Episode, Filled, InputError, Message
from memgene.harness.baselines.full_context import FullContext
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.harness.baselines.turns import turns_of
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT, Harness

MAY = Episode(
    "may",
    (
        Message("Look at this.", "m1", "user", caption="a red boat"),
        Message("Nice!", "m2", "assistant", time=datetime(2024, 5, 9)),
    ),
    group="g",
    time=datetime(2024, 5, 8),
)
JUNE = Episode("june", (Message("It sank.", "j1", "user"),), "g", datetime(2024, 6, 1))
UNDATED = Episode("note", (Message("No date, no speaker."),), "g")

MAY_LINES = ["[8 May 2024] user: Look at this. (a red boat)", "[9 May 2024] assistant: Nice!"]
JUNE_LINE = "[1 June 2024] user: It sank."
QUERY = Filled(QUERY_TEXT, {"query_text": "What sank?"})


def filled(harness: Harness, *episodes: Episode) -> Harness:
    for episode in episodes:
        harness.write(Filled(NO_ITEM), episode)
    return harness


def test_turns_carry_time_place_and_refs() -> None:
    first, second = turns_of(MAY)
    assert (first.refs, first.source, first.turn_start, first.turn_end) == (("m1",), "may", 0, 0)
    assert second.event_time == datetime(2024, 5, 9)
    [note] = turns_of(UNDATED)
    assert (note.refs, note.rendered) == (("note",), "No date, no speaker.")


def test_no_memory_recalls_nothing_and_ranks_nothing() -> None:
    context = filled(NoMemory(), MAY, JUNE).read(QUERY)
    assert (context.text, context.hits, context.shown) == ("", None, 0)
    assert not NoMemory().yields_hits


def test_full_context_is_every_turn_in_the_order_written() -> None:
    context = filled(FullContext(), JUNE, MAY, UNDATED).read(QUERY)
    assert context.text.splitlines() == [JUNE_LINE, *MAY_LINES, "No date, no speaker."]
    assert context.hits is None
    assert context.notes == {"cut_lines": 0, "cut_characters": 0}


def test_full_context_keeps_the_newest_whole_lines_and_says_what_it_cut() -> None:
    fits_two = len(MAY_LINES[1]) + 1 + len(JUNE_LINE)
    context = filled(FullContext(limit=fits_two), MAY, JUNE).read(QUERY)
    assert context.text.splitlines() == [MAY_LINES[1], JUNE_LINE]
    assert context.notes == {"cut_lines": 1, "cut_characters": len(MAY_LINES[0]) + 1}
    tighter = filled(FullContext(limit=fits_two - 1), MAY, JUNE).read(QUERY)
    assert tighter.text == JUNE_LINE
    shortest = filled(FullContext(limit=5), MAY, JUNE).read(QUERY)
    assert (shortest.text, shortest.notes["cut_lines"]) == ("sank.", 3)


def test_recent_ranks_the_newest_first_and_shows_them_in_time_order() -> None:
    context = filled(Recent(2), MAY, JUNE).read(QUERY)
    assert context.hits is not None
    assert [hit.refs for hit in context.hits] == [("j1",), ("m2",)]
    assert [hit.score for hit in context.hits] == [1.0, 0.5]
    assert context.text.splitlines() == [MAY_LINES[1], JUNE_LINE]
    assert (context.shown, context.pool) == (2, ("j1", "m2"))
    assert context.hits[0].rendered == JUNE_LINE


def test_recent_goes_by_event_time_not_by_order_of_writing() -> None:
    context = filled(Recent(1), JUNE, MAY).read(QUERY)
    assert context.text == JUNE_LINE


def test_recent_goes_by_order_of_writing_where_a_time_is_missing() -> None:
    context = filled(Recent(2), JUNE, UNDATED, MAY).read(QUERY)
    assert context.text.splitlines() == MAY_LINES


def test_recent_compares_naive_and_aware_times_as_written() -> None:
    aware = Episode("a", (Message("Aware.", "a1"),), "g", datetime(2024, 7, 1, tzinfo=UTC))
    context = filled(Recent(1), aware, JUNE).read(QUERY)
    assert context.text == "[1 July 2024] Aware."


@pytest.mark.parametrize("harness", [NoMemory(), FullContext(), Recent()])
def test_later_episodes_are_seen_and_closing_forgets(harness: Harness) -> None:
    empty = harness.read(QUERY)
    assert empty.text == ""
    filled(harness, MAY).read(QUERY)
    after = filled(harness, JUNE).read(QUERY).text
    assert after == ("" if harness.name == "no-memory" else "\n".join([*MAY_LINES, JUNE_LINE]))
    assert harness.item_schema is NO_ITEM
    assert harness.query_schema is QUERY_TEXT
    harness.close()
    assert harness.read(QUERY).text == ""


def test_names_are_those_of_the_command_line() -> None:
    assert [h.name for h in (NoMemory(), FullContext(), Recent())] == [
        "no-memory",
        "full-context",
        "recent",
    ]


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(InputError):
        Recent(0)
    with pytest.raises(InputError):
        FullContext(0)
