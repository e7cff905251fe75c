"""Whatever is asked by whichever view: nothing is seen that the scope does not admit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import MemoryUnit, SqliteBank
from memgene.core import Scope
from memgene.embed.static import StaticEmbedder
from memgene.engine import MemoryEngine
from memgene.retrieval.config import RetrievalConfig

OFF = RetrievalConfig(lexical_k=0, window_k=0, episode_k=0, dense_k=0, structured_k=0)
VIEWS = {
    "lexical": RetrievalConfig(fusion="lexical_only"),
    "dense": RetrievalConfig(fusion="dense_only"),
    "window": OFF.changed(window_k=60),
    "episode": OFF.changed(episode_k=60),
    "soft": OFF.changed(soft_k=60),
    "structured": OFF.changed(structured_k=60),
    "entity_swap": RetrievalConfig(fusion="lexical_only", entity_swap=True),
    "neighbours": RetrievalConfig(fusion="lexical_only", lexical_k=1, temporal_neighbours=3),
    "all": RetrievalConfig(soft_k=60),
}
some = st.sampled_from
scopes = st.builds(Scope, some([None, "ann", "bob"]), some([None, "a1", "a2"]), some([None, "r"]))


@settings(max_examples=40, deadline=None)
@given(stored=st.lists(scopes, min_size=1, max_size=8), asking=scopes)
def test_every_view_finds_all_that_the_scope_admits_and_nothing_else(
    static: StaticEmbedder, stored: list[Scope], asking: Scope
) -> None:
    bank = SqliteBank(":memory:")
    try:
        engine = MemoryEngine(bank, static)
        engine.write(
            [
                MemoryUnit(
                    f"a red boat {i}",
                    speaker="Anna",
                    source="talk",
                    turn_start=i,
                    entities=("boat",),
                    refs=(str(i),),
                    scope=scope,
                )
                for i, scope in enumerate(stored)
            ]
        )
        admitted = {str(i) for i, scope in enumerate(stored) if asking.admits(scope)}
        for name, config in VIEWS.items():
            found = engine.with_config(config).retrieve("Which red boats has Anna?", asking)
            seen = {hit.refs[0] for hit in found.hits}
            assert seen == set(found.pool), name
            assert seen <= admitted, name
            assert seen == admitted or name == "neighbours", name
        everything = engine.retrieve("Which red boats has Anna?", None)
        assert {hit.refs[0] for hit in everything.hits} == {str(i) for i in range(len(stored))}
    finally:
        bank.close()


def test_statistics_and_names_are_those_of_the_scope(static: StaticEmbedder) -> None:
    """What another user said changes neither a score nor what counts as a name."""
    config = RetrievalConfig(lexical_k=0, window_k=60, episode_k=20, dense_k=60)
    rankings = []
    for others in (0, 30):
        bank = SqliteBank(":memory:")
        engine = MemoryEngine(bank, static, config)
        ann, bob = Scope("ann"), Scope("bob")
        for i in range(others):
            said = MemoryUnit(f"rose {i} boat", speaker="Rose", scope=bob, source="talk")
            engine.write([said])
        engine.write(
            [
                MemoryUnit(text, scope=ann, source="talk", turn_start=i)
                for i, text in enumerate(["a rose", "a red boat", "a blue boat", "the sea"])
            ]
        )
        found = engine.retrieve("Which Rose has a boat?", ann)
        rankings.append([(hit.text, round(hit.score, 6)) for hit in found.hits])
        bank.close()
    assert rankings[0] == rankings[1]


def test_neighbours_of_another_scope_do_not_join(static: StaticEmbedder) -> None:
    bank = SqliteBank(":memory:")
    engine = MemoryEngine(bank, static, VIEWS["neighbours"])
    for turn, (user, text) in enumerate([("ann", "a boat"), ("bob", "secret"), ("ann", "tea")]):
        unit = MemoryUnit(text, scope=Scope(user), source="talk", turn_start=turn, refs=(text,))
        engine.write([unit])
    assert set(engine.retrieve("boat", Scope("ann")).pool) == {"a boat", "tea"}
    assert set(engine.retrieve("boat", None).pool) == {"a boat", "secret", "tea"}
    bank.close()
