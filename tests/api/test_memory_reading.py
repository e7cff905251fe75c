"""What `search`, `get`, `get_all` and `history` see: one owner's memories, with reasons."""

from __future__ import annotations

import pytest

from memgene import Memory, RetrievalConfig, Scope
from memgene.core import InputError, NotFoundError
from memgene.embed import Embedder


@pytest.fixture
def shared(memory: Memory) -> Memory:
    memory.add("Ann likes green tea.", user_id="ann", metadata={"topic": "drinks"})
    memory.add("Bob likes black tea.", user_id="bob")
    memory.add("Tea is a plant.")
    memory.add("Ann drank tea in this session.", user_id="ann", run_id="r1")
    memory.add("Ann asked the cook about tea.", user_id="ann", agent_id="cook")
    return memory


def found(memory: Memory, **scope: object) -> set[str]:
    return {hit.text for hit in memory.search("tea", **scope)}  # type: ignore[arg-type]


def test_one_users_memory_is_never_shown_to_another(shared: Memory) -> None:
    assert found(shared, user_id="bob") == {"Bob likes black tea."}
    assert found(shared) == {"Tea is a plant."}
    assert found(shared, user_id="nobody") == set()


def test_a_run_sees_its_own_and_the_base_memories(shared: Memory) -> None:
    assert found(shared, user_id="ann", run_id="r2") == {
        "Ann likes green tea.",
        "Ann asked the cook about tea.",
    }
    assert "Ann drank tea in this session." in found(shared, user_id="ann", run_id="r1")
    assert found(shared, user_id="ann", agent_id="cook") == {"Ann asked the cook about tea."}


def test_scopes_may_stand_in_filters_and_must_not_contradict(shared: Memory) -> None:
    inside = shared.search("tea", filters={"user_id": "bob"})
    assert [hit.text for hit in inside] == ["Bob likes black tea."]
    assert inside.model_dump() == shared.search("tea", user_id="bob").model_dump()
    same = shared.search("tea", user_id="bob", filters={"user_id": "bob"})
    assert len(same) == 1
    with pytest.raises(InputError, match=r"user_id.*bob.*ann"):
        shared.search("tea", user_id="bob", filters={"user_id": "ann"})


def test_filters_restrict_and_unknown_ones_are_refused(shared: Memory) -> None:
    assert found(shared, user_id="ann", filters={"metadata": {"topic": "drinks"}}) == {
        "Ann likes green tea."
    }
    with pytest.raises(InputError, match=r"topic.*metadata"):
        shared.search("tea", filters={"topic": "drinks"})
    with pytest.raises(InputError, match="episodic"):
        shared.search("tea", filters={"type": "dream"})


def test_filters_bound_the_event_time(memory: Memory) -> None:
    for day in ("2024-01-01", "2024-02-01", "2024-03-01"):
        memory.add(f"meeting of {day}", event_time=day, source=day)
    bounded = memory.search("meeting", filters={"since": "2024-02-01", "until": "2024-02-28"})
    assert [hit.text for hit in bounded] == ["meeting of 2024-02-01"]
    by_source = memory.search("meeting", filters={"source": "2024-03-01"})
    assert [hit.source for hit in by_source] == ["2024-03-01"]


def test_a_result_iterates_indexes_and_dumps_as_the_contract_says(shared: Memory) -> None:
    result = shared.search("green tea", user_id="ann", limit=2)
    assert len(result) == 2
    assert result[0] is next(iter(result))
    assert result[:1] == (result[0],)
    dumped = result.model_dump()["results"][0]
    assert list(dumped) == ["id", "text", "score", "why", "source", "metadata"]
    assert dumped["metadata"] == {"topic": "drinks"}
    assert dumped["why"]["views"]["lexical"]["rank"] == 1
    assert result[0].score >= result[1].score


def test_the_context_is_what_an_agent_reads(memory: Memory) -> None:
    memory.add(
        [{"role": "user", "content": "My train leaves at nine."}],
        user_id="ann",
        event_time="2024-05-08",
    )
    result = memory.search("train", user_id="ann")
    assert result.context == "[8 May 2024] user: My train leaves at nine."
    assert result[0].line == result.context


def test_pages_follow_each_other_without_gap_or_overlap(memory: Memory) -> None:
    memory.add([{"content": f"m{n}"} for n in range(7)], user_id="ann")
    seen: list[str] = []
    after: int | None = 0
    while after is not None:
        page = memory.get_all(user_id="ann", limit=3, after=after)
        seen += [record.text for record in page]
        after = page.next
    assert seen == [f"m{n}" for n in range(7)]
    assert memory.get_all(user_id="ann", limit=7).next is None


def test_get_all_shows_one_owner_or_on_request_all(shared: Memory) -> None:
    assert [r.text for r in shared.get_all()] == ["Tea is a plant."]
    assert len(shared.get_all(all=True)) == 5
    with pytest.raises(InputError, match="not both"):
        shared.get_all(user_id="ann", all=True)


def test_get_by_id_respects_a_scope_that_is_given(shared: Memory) -> None:
    (hit,) = shared.search("tea", user_id="bob")
    assert shared.get(hit.id).user_id == "bob"
    assert shared.get(hit.id, user_id="bob").text == "Bob likes black tea."
    for call in (shared.get, shared.delete):
        with pytest.raises(NotFoundError):
            call(hit.id, user_id="ann")
    with pytest.raises(NotFoundError):
        shared.update(hit.id, text="mine now", user_id="ann")
    with pytest.raises(NotFoundError):
        shared.feedback(hit, 1.0, user_id="ann")
    with pytest.raises(NotFoundError):
        shared.history(hit.id, user_id="ann")
    assert shared.get(hit.id).utility == 0.5
    assert len(shared.feedback(hit, 1.0, user_id="bob")) == 1
    assert shared.history(hit.id, user_id="bob")[0].event == "add"


def test_after_deletion_nobody_is_told_a_history_as_its_owner(shared: Memory) -> None:
    (hit,) = shared.search("tea", user_id="bob")
    shared.delete(hit.id)
    with pytest.raises(NotFoundError):
        shared.history(hit.id, user_id="bob")
    assert shared.history(hit.id)[-1].event == "delete"


def test_a_bound_without_a_zone_is_taken_for_utc(memory: Memory) -> None:
    for time in ("2024-05-08T10:00", "2024-05-08T10:00+02:00", "2024-05-08T10:00+00:00"):
        memory.add("tea", event_time=time)
    assert len(memory.get_all()) == 3  # three memories: their times are not the same
    at_ten = memory.get_all(filters={"since": "2024-05-08T10:00"})
    zoned = memory.get_all(filters={"since": "2024-05-08T12:00+02:00"})
    assert [str(r.event_time) for r in at_ten] == [str(r.event_time) for r in zoned]
    assert [str(r.event_time) for r in at_ten] == [
        "2024-05-08 10:00:00",
        "2024-05-08 10:00:00+00:00",
    ]


def test_a_context_is_not_empty_because_its_best_memory_is_long(static: Embedder) -> None:
    with Memory(embedder=static, config=RetrievalConfig(context_chars=200)) as memory:
        memory.add("The harbour " + "is very wide and " * 40)
        context = memory.search("harbour").context
    assert context.startswith("The harbour is very wide")
    assert context.endswith("…")
    assert len(context) <= 200


def test_history_tells_every_change_in_order(memory: Memory) -> None:
    (added,) = memory.add("one")
    memory.update(added.id, text="two")
    memory.feedback(added.id, 1.0)
    events = [entry.event for entry in memory.history(added.id)]
    assert events[0] == "add"
    assert {"update", "feedback"} <= set(events)
    assert events.index("update") < events.index("feedback")
    with pytest.raises(NotFoundError):
        memory.history("unknown")


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(memory: Memory, limit: int) -> None:
    with pytest.raises(InputError, match="limit"):
        memory.search("x", limit=limit)
    with pytest.raises(InputError, match="limit"):
        memory.get_all(limit=limit)


def test_stats_count_one_owner_or_the_whole(shared: Memory) -> None:
    assert shared.stats().units == 5
    assert shared.stats(user_id="bob").units == 1
    assert shared.stats().model_dump()["embedder"].startswith("wordllama-256")


def test_an_empty_id_is_no_scope(memory: Memory) -> None:
    with pytest.raises(InputError, match="user_id"):
        memory.add("x", user_id="")
    assert Scope().user_id is None
