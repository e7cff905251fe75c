"""What `add`, `update`, `delete` and `delete_all` do, and what their receipts say."""

from __future__ import annotations

from datetime import datetime

import pytest

from memgene import Episode, Memory, Message
from memgene.core import InputError, NotFoundError


def texts(memory: Memory, **scope: str) -> list[str]:
    return [record.text for record in memory.get_all(**scope)]


def test_a_receipt_names_the_fate_of_everything_and_dumps_as_the_contract_says(
    memory: Memory,
) -> None:
    receipt = memory.add("Ann moved to Lisbon.", user_id="ann")
    assert len(receipt) == 1
    assert receipt[0] is receipt.results[0]
    assert [one.event for one in receipt] == ["added"]
    assert receipt.model_dump() == {
        "results": [
            {"id": receipt[0].id, "event": "added", "text": "Ann moved to Lisbon.", "reason": ""}
        ]
    }


def test_the_same_text_twice_is_stored_once_and_the_receipt_says_so(memory: Memory) -> None:
    first = memory.add("Ann moved to Lisbon.", user_id="ann")
    again = memory.add("Ann  moved to Lisbon.", user_id="ann")
    assert (again[0].event, again[0].id) == ("merged", first[0].id)
    assert again[0].reason
    assert texts(memory, user_id="ann") == ["Ann moved to Lisbon."]


def test_a_changed_number_is_another_memory(memory: Memory) -> None:
    memory.add("The rent is 900.", user_id="ann")
    assert memory.add("The rent is 950.", user_id="ann")[0].event == "added"
    assert len(memory.get_all(user_id="ann")) == 2


@pytest.mark.parametrize(
    ("text", "reason"), [("broken \ud800 text", "surrogate"), ("a\0b", "NUL"), (" \n", "words")]
)
def test_what_cannot_be_stored_is_refused_by_name(memory: Memory, text: str, reason: str) -> None:
    receipt = memory.add(
        [{"content": "before"}, {"content": text}, {"content": "after"}], user_id="ann"
    )
    assert [one.event for one in receipt] == ["added", "refused", "added"]
    assert reason in receipt[1].reason
    assert len(receipt.ids) == 2
    assert texts(memory, user_id="ann") == ["before", "after"]


def test_messages_keep_speaker_time_and_order(memory: Memory) -> None:
    memory.add(
        [
            {"role": "user", "content": "I adopted a cat.", "time": "2024-05-08T10:00:00"},
            {"role": "assistant", "content": [{"type": "text", "text": "Lovely!"}]},
            Message("Its name is Miso.", speaker="user"),
        ],
        user_id="ann",
        event_time="2024-05-09",
    )
    found = memory.get_all(user_id="ann").results
    assert [(r.speaker, r.text) for r in found] == [
        ("user", "I adopted a cat."),
        ("assistant", "Lovely!"),
        ("user", "Its name is Miso."),
    ]
    assert [r.event_time for r in found] == [
        datetime(2024, 5, 8, 10),
        datetime(2024, 5, 9),
        datetime(2024, 5, 9),
    ]
    assert len({r.source for r in found}) == 1


def test_an_episode_keeps_its_own_name_and_time(memory: Memory) -> None:
    session = Episode("s1", (Message("Hello."),), group="g", time=datetime(2024, 1, 2))
    memory.add(session, user_id="ann")
    (record,) = memory.get_all(user_id="ann")
    assert (record.source, record.event_time) == ("s1", datetime(2024, 1, 2))
    with pytest.raises(InputError, match=r"s2.*s1"):
        memory.add(session, source="s2")


def test_an_episode_takes_the_time_and_metadata_it_has_not(memory: Memory) -> None:
    timed = Message("At ten.", time=datetime(2024, 1, 2, 10))
    session = Episode("s1", (Message("Hello."), timed), "g", metadata={"topic": "travel"})
    memory.add(session, user_id="ann", event_time="2024-01-03", metadata={"by": "phone"})
    found = memory.get_all(user_id="ann").results
    assert [r.event_time for r in found] == [datetime(2024, 1, 3), datetime(2024, 1, 2, 10)]
    assert [r.metadata for r in found] == [{"topic": "travel", "by": "phone"}] * 2


def test_an_episode_is_not_contradicted(memory: Memory) -> None:
    when = datetime(2024, 1, 2)
    session = Episode("s1", (Message("Hello."),), "g", time=when, metadata={"topic": "travel"})
    with pytest.raises(InputError, match=r"event_time 2024-01-03.*2024-01-02"):
        memory.add(session, event_time="2024-01-03")
    with pytest.raises(InputError, match=r"metadata\['topic'\] 'food'.*'travel'"):
        memory.add(session, metadata={"topic": "food"})
    assert len(memory.get_all(all=True)) == 0
    memory.add(session, event_time=when, metadata={"topic": "travel"})
    (record,) = memory.get_all()
    assert (record.event_time, record.metadata) == (when, {"topic": "travel"})


def test_import_time_is_never_event_time(memory: Memory) -> None:
    memory.add("Undated.", user_id="ann")
    (record,) = memory.get_all(user_id="ann")
    assert record.event_time is None
    assert record.created is not None


def test_a_conversation_may_arrive_in_pieces(memory: Memory) -> None:
    chat = [{"role": "user", "content": text} for text in ("one", "two", "three", "two")]
    memory.add(chat[:2], run_id="s")
    memory.add(chat[2:3], run_id="s")
    grown = memory.add(chat, run_id="s")
    assert [one.event for one in grown] == ["merged", "merged", "merged", "added"]
    assert [r.text for r in memory.get_all(run_id="s")] == ["one", "two", "three", "two"]


def test_turns_that_repeat_are_kept_when_a_chat_arrives_turn_by_turn(memory: Memory) -> None:
    said = ("yes", "no", "yes", "why?", "no")
    for text in said:
        receipt = memory.add([{"role": "user", "content": text}], run_id="s")
        assert receipt[0].event == "added"
    assert [r.text for r in memory.get_all(run_id="s")] == list(said)
    whole = memory.add([{"role": "user", "content": text} for text in said], run_id="s")
    assert {one.event for one in whole} == {"merged"}


def test_the_last_turn_handed_in_again_is_merged_unless_its_time_is_another(
    memory: Memory,
) -> None:
    first = {"role": "user", "content": "yes", "time": "2024-05-08T10:00"}
    later = {**first, "time": "2024-05-08T10:05"}
    events = [memory.add([turn], run_id="s")[0].event for turn in (first, first, later, later)]
    assert events == ["added", "merged", "added", "merged"]


TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


def test_a_chat_with_tool_calls_is_stored_but_for_what_has_no_words(memory: Memory) -> None:
    chat = [
        {"role": "user", "content": "Will it rain?"},
        {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL], "refusal": None},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain at noon"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "tool_calls": [TOOL_CALL]},
        {"role": "assistant", "content": "At noon.", "annotations": []},
    ]
    receipt = memory.add(chat, run_id="s")
    assert [one.event for one in receipt] == [
        *("added", "refused", "added", "refused", "refused", "added")
    ]
    assert "content is null" in receipt[1].reason
    assert "tool_calls" in receipt[1].reason
    assert "tool_call_id" in receipt[2].reason
    assert receipt[3].reason == "it has no words: its content is null"
    assert receipt[5].reason == ""
    assert texts(memory, run_id="s") == ["Will it rain?", "rain at noon", "At noon."]
    again = memory.add(chat, run_id="s")
    assert again.ids == receipt.ids
    assert len(memory.get_all(run_id="s")) == 3


def test_refused_messages_leave_no_gap_that_a_later_turn_could_fall_into(memory: Memory) -> None:
    chat = [{"content": "one"}, {"content": None}, {"content": "two"}]
    memory.add(chat, run_id="s")
    memory.add([{"content": "three"}], run_id="s")
    again = memory.add([*chat, {"content": "three"}], run_id="s")
    assert [one.event for one in again] == ["merged", "refused", "merged", "merged"]
    assert texts(memory, run_id="s") == ["one", "two", "three"]


def test_metadata_goes_to_every_message_and_comes_back(memory: Memory) -> None:
    memory.add(
        [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
        metadata={"topic": "日本", "n": 3},
        user_id="ann",
    )
    assert [r.metadata for r in memory.get_all(user_id="ann")] == [{"topic": "日本", "n": 3}] * 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "no message"),
        (7, "int"),
        ([{"role": "user"}], "message 0"),
        ([{"role": "user", "content": "x", "mood": "glad"}], "mood"),
        ([{"role": 5, "content": "x"}], "message 0: role"),
        ([{"content": "x"}, {"id": 5, "content": "x"}], "message 1: id"),
        ([{"caption": 5, "content": "x"}], "message 0: caption"),
        (Message(None), "message 0: text"),  # type: ignore[arg-type]
        ([Message("x", time="soon")], "message 0: time"),  # type: ignore[arg-type]
        (Episode("e", ("x",), "g"), "message 0"),  # type: ignore[arg-type]
        (Episode("e", (), "g"), "without a message"),
        ([{"role": "user", "content": "x", "text": "y"}], "both"),
        ([{"content": "x", "time": "yesterday"}], "ISO 8601"),
        ([{"content": [{"type": "image"}]}], "text parts"),
        (["bare text"], "str"),
    ],
)
def test_malformed_messages_are_refused_with_their_place(
    memory: Memory, given: object, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        memory.add(given)  # type: ignore[arg-type]
    assert len(memory.get_all(all=True)) == 0


def test_an_updated_text_is_found_by_its_new_words_and_meaning_only(memory: Memory) -> None:
    for text in ("The dentist is on Monday.", "The car is blue.", "The cellar is damp."):
        memory.add(text, user_id="ann")
    id = memory.search("dentist", user_id="ann")[0].id
    changed = memory.update(id, text="The piano was tuned.")
    assert (changed.id, changed.text) == (id, "The piano was tuned.")
    piano = memory.search("piano", user_id="ann")
    assert piano[0].id == id
    assert piano[0].why.views["lexical"].rank == 1
    assert piano[0].why.views["dense"].rank == 1
    assert all(
        hit.why.views["lexical"].rank is None for hit in memory.search("dentist", user_id="ann")
    )
    assert memory.verify().ok


def test_update_replaces_metadata_and_keeps_the_text(memory: Memory) -> None:
    (added,) = memory.add("kept", metadata={"a": 1, "b": 2})
    assert memory.update(added.id, metadata={"a": 3}).metadata == {"a": 3}
    assert memory.get(added.id).text == "kept"
    with pytest.raises(InputError, match="text="):
        memory.update(added.id)


def test_delete_reaches_everything(memory: Memory) -> None:
    (added,) = memory.add("The safe code is 4711.", user_id="ann")
    memory.add("The garden is wild.", user_id="ann")
    memory.feedback(added.id, 1.0, "code?")
    assert memory.delete(added.id).count == 1
    assert [hit.text for hit in memory.search("safe code 4711", user_id="ann")] == [
        "The garden is wild."
    ]
    assert all(entry.payload is None for entry in memory.history(added.id))
    assert memory.history(added.id)[-1].event == "delete"
    with pytest.raises(NotFoundError, match=added.id):
        memory.get(added.id)
    with pytest.raises(NotFoundError):
        memory.delete(added.id)
    assert memory.verify().ok


def test_several_are_erased_together_or_not_at_all(memory: Memory) -> None:
    ann = [memory.add(text, user_id="ann")[0].id for text in ("one", "two", "three")]
    (bob,) = memory.add("four", user_id="bob").ids
    with pytest.raises(NotFoundError, match="unknown"):
        memory.delete([ann[0], "unknown", ann[1]])
    with pytest.raises(NotFoundError, match=bob):
        memory.delete([ann[0], bob], user_id="ann")
    assert memory.stats().units == 4
    assert memory.delete([ann[0], ann[1], ann[0]], user_id="ann").count == 2
    assert texts(memory, user_id="ann") == ["three"]


def test_delete_all_needs_an_owner_or_the_word_all(memory: Memory) -> None:
    for user in ("ann", "bob"):
        for run in ("r1", "r2", None):
            memory.add(f"{user} in {run}", user_id=user, run_id=run)
    with pytest.raises(InputError, match="all=True"):
        memory.delete_all()
    with pytest.raises(InputError, match="not both"):
        memory.delete_all(user_id="ann", all=True)
    assert memory.delete_all(user_id="ann", run_id="r1").count == 1
    assert texts(memory, user_id="ann") == ["ann in r2", "ann in None"]
    assert memory.delete_all(user_id="ann").count == 2
    assert len(memory.get_all(all=True)) == 3
    assert memory.delete_all(all=True).count == 3
    assert memory.verify().ok


def test_delete_all_reaches_more_than_a_page(memory: Memory) -> None:
    memory.add([{"content": f"fact number {n}"} for n in range(1234)], user_id="ann")
    assert memory.delete_all(user_id="ann").count == 1234
    assert len(memory.get_all(all=True)) == 0
