"""What was learned travels from the memories it was learned in to fresh ones, as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.bank import Bank, MemoryUnit, SqliteBank
from memgene.bank.protocol import Filter, Value
from memgene.bank.unit import UnitStatus
from memgene.core import DataError, InputError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.engine import MemoryEngine
from memgene.engine.growth import GrowthSettings, control_growth
from memgene.engine.learned import LearnedMemory, pooled
from memgene.retrieval.clusters import STATE, QueryClusters

WRITTEN = [MemoryUnit(text) for text in ("red kettle", "blue lamp", "green chair", "white door")]
IDS = [unit.identity() for unit in WRITTEN]
QUERIES = ("boil some water", "read late evening", "mow tall grass")
Fresh = Callable[..., MemoryEngine]


@pytest.fixture(scope="module")
def fresh() -> Iterator[Fresh]:
    """Newly written memories, all of the same episodes unless others are given."""
    with ExitStack() as opened:

        def make(*units: MemoryUnit, dimension: int = 256) -> MemoryEngine:
            bank = opened.enter_context(SqliteBank(":memory:"))
            engine = MemoryEngine(bank, HashingEmbedder(dimension))
            engine.write(units or WRITTEN)
            return engine

        yield make


def teach(engine: MemoryEngine, *steps: tuple[int, int, float, str | None]) -> None:
    """Interactions: which query, which unit was used, the reward, what was distilled."""
    for query, place, reward, made in steps:
        distilled = None if made is None else MemoryUnit(made)
        shown = (Exposure(IDS[place]),)
        about = Interaction(QUERIES[query], shown, reward, distilled)
        give_credit(engine, about, CreditSettings())


def contents(bank: Bank) -> object:
    """All that a reader of the bank can see of what was learned."""
    everything = Filter(statuses=tuple(UnitStatus))
    units = [
        (u.id, u.content, u.scope, u.metadata, u.utility, u.status)
        for u in bank.scan(None, everything)
    ]
    state = bank.state(STATE)
    return units, bank.all_values(), state


LESSONS = ((0, 0, 1.0, "kettles boil"), (1, 1, 0.8, None), (0, 1, 0.0, "lamps do not boil"))


class TestTravelling:
    def test_a_fresh_memory_becomes_what_the_taught_one_is(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        teach(taught, *LESSONS)
        control_growth(taught, GrowthSettings(most=5))
        LearnedMemory.of([taught.bank]).apply(other)
        assert contents(other.bank) == contents(taught.bank)
        assert other.bank.verify() == []

    def test_distilled_memories_can_be_found_by_their_vectors(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        teach(taught, *LESSONS)
        LearnedMemory.of([taught.bank]).apply(other)
        assert other.retrieve("kettles boil").hits[0].text == "kettles boil"

    def test_doing_it_again_changes_nothing(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        teach(taught, *LESSONS)
        control_growth(taught, GrowthSettings(most=4))
        learned = LearnedMemory.of([taught.bank])
        learned.apply(other)
        version = other.bank.version()
        learned.apply(other)
        learned.apply(taught)
        assert other.bank.version() == version
        assert LearnedMemory.of([taught.bank]).digest == learned.digest

    def test_nothing_learned_changes_nothing(self, fresh: Fresh) -> None:
        engine = fresh()
        version = engine.bank.version()
        learned = LearnedMemory.of([engine.bank])
        assert learned.digest == LearnedMemory.empty().digest
        learned.apply(engine)
        assert engine.bank.version() == version

    def test_merged_memories_stay_superseded(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        teach(taught, (0, 0, 1.0, "kettles boil water"), (0, 0, 1.0, "kettles boil water fast"))
        (pair,) = control_growth(taught, GrowthSettings(similarity=0.8)).merged
        LearnedMemory.of([taught.bank]).apply(other)
        (gone,) = other.bank.get([pair[0]])
        assert (gone.status, gone.superseded_by) == (UnitStatus.SUPERSEDED, pair[1])

    def test_owners_and_times_of_distilled_memories_are_kept(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        made = MemoryUnit(
            "a bronze bell", Scope("ann", run_id="r1"), event_time=datetime(2024, 5, 1, 12)
        )
        about = Interaction(None, (Exposure(IDS[0]),), 1.0, made)
        added = give_credit(taught, about, CreditSettings()).added
        assert added is not None
        LearnedMemory.from_jsonl(LearnedMemory.of([taught.bank]).to_jsonl()).apply(other)
        (unit,) = other.bank.get([added])
        assert (unit.scope, unit.event_time) == (made.scope, made.event_time)


class TestWhatFits:
    def test_units_that_are_not_there_are_passed_over(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh(WRITTEN[1], MemoryUnit("stranger"))
        teach(taught, *LESSONS)
        control_growth(taught, GrowthSettings(most=3))
        LearnedMemory.of([taught.bank]).apply(other)
        # "lamps do not boil" was shown the lamp alone, "kettles boil" the kettle
        texts = [u.content for u in other.bank.scan(None, Filter(statuses=tuple(UnitStatus)))]
        assert texts == ["blue lamp", "stranger", "lamps do not boil"]
        assert {v.unit_id for v in other.bank.all_values()} >= {IDS[1]}

    def test_a_distilled_memory_needs_the_distilled_ones_it_was_built_from(
        self, fresh: Fresh
    ) -> None:
        taught = fresh()
        teach(taught, (0, 0, 1.0, "kettles boil"))
        child = Interaction(
            None,
            (Exposure(IDS[1]), Exposure(MemoryUnit("kettles boil").identity())),
            1.0,
            MemoryUnit("a bronze bell"),
        )
        give_credit(taught, child, CreditSettings())
        learned = LearnedMemory.of([taught.bank])
        for units, there in ((WRITTEN[:2], 4), (WRITTEN[1:2], 1)):
            engine = fresh(*units)
            learned.apply(engine)
            assert engine.bank.stats().units == there

    def test_kinds_of_query_fit_memories_of_the_same_embedder(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh(dimension=128)
        teach(taught, *LESSONS)
        LearnedMemory.of([taught.bank]).apply(other)
        assert other.bank.state(STATE) is None
        assert {v.cluster for v in other.bank.all_values()} == {""}

    def test_kinds_that_are_there_are_kept(self, fresh: Fresh) -> None:
        taught, other = fresh(), fresh()
        teach(taught, (0, 0, 1.0, None))
        teach(other, (1, 0, 1.0, None))
        own = QueryClusters.read(other.bank.state(STATE), other.embedder).names
        LearnedMemory.of([taught.bank]).apply(other)
        assert QueryClusters.read(other.bank.state(STATE), other.embedder).names[:1] == own


class TestPooling:
    def test_values_are_averaged_by_exposures(self, fresh: Fresh) -> None:
        one, two = fresh(), fresh()
        one.bank.set_values([Value(IDS[0], "", 0.2, 1), Value(IDS[1], "k", 0.3, 2)])
        two.bank.set_values([Value(IDS[0], "", 0.8, 3)])
        learned = LearnedMemory.of([one.bank, two.bank])
        expected = [Value(IDS[0], "", pytest.approx(0.65), 4), Value(IDS[1], "k", 0.3, 2)]
        assert list(learned.values) == sorted(expected, key=lambda v: v.unit_id)

    def test_without_exposures_the_mean_is_plain(self) -> None:
        assert pooled([Value("m", "", 0.2), Value("m", "", 0.6)]).q == pytest.approx(0.4)

    def test_a_unit_is_retired_where_no_bank_has_it_active(self, fresh: Fresh) -> None:
        one, two = fresh(), fresh(*WRITTEN[:2])
        one.bank.set_status(IDS[:3], UnitStatus.ARCHIVED)
        two.bank.set_status(IDS[:1], UnitStatus.ARCHIVED)
        retired = LearnedMemory.of([one.bank, two.bank]).retired
        assert [r.unit_id for r in retired] == sorted([IDS[0], IDS[2]])

    def test_kinds_of_query_are_put_together(self, fresh: Fresh) -> None:
        one, two = fresh(), fresh()
        teach(one, (0, 0, 1.0, None), (1, 0, 1.0, None))
        teach(two, (1, 0, 1.0, None), (2, 0, 1.0, None))
        assert len(LearnedMemory.of([one.bank, two.bank]).clusters) == 3

    def test_kinds_of_different_embedders_cannot_be(self, fresh: Fresh) -> None:
        one, two = fresh(), fresh(dimension=128)
        teach(one, LESSONS[0])
        teach(two, LESSONS[0])
        with pytest.raises(InputError, match="not of one space"):
            LearnedMemory.of([one.bank, two.bank])


class TestText:
    @settings(max_examples=25, deadline=None)
    @given(
        steps=st.lists(
            st.tuples(
                st.integers(0, 2),
                st.integers(0, 3),
                st.floats(0, 1),
                st.sampled_from([None, "kettles boil", "Tee trinken — 茶", 'a "quoted"\u2028line']),
            ),
            max_size=6,
        ),
        most=st.none() | st.integers(2, 6),
    )
    def test_text_is_lossless_and_so_is_applying(
        self,
        fresh: Fresh,
        steps: list[tuple[int, int, float, str | None]],
        most: int | None,
    ) -> None:
        taught, other = fresh(), fresh()
        teach(taught, *steps)
        control_growth(taught, GrowthSettings(most=most, similarity=0.7))
        learned = LearnedMemory.of([taught.bank])
        text = learned.to_jsonl()
        again = LearnedMemory.from_jsonl(text)
        assert again.to_jsonl() == text
        again.apply(other)
        assert LearnedMemory.of([other.bank]).to_jsonl() == text
        assert contents(other.bank) == contents(taught.bank)
        taught.bank.close()
        other.bank.close()

    def test_a_line_says_what_it_is(self, fresh: Fresh) -> None:
        engine = fresh()
        teach(engine, (0, 0, 1.0, "kettles boil"))
        engine.bank.set_status([IDS[3]], UnitStatus.ARCHIVED)
        rows = [
            json.loads(line) for line in LearnedMemory.of([engine.bank]).to_jsonl().split("\n")[:-1]
        ]
        assert rows[0] == {"memgene_learned": 1, "embedder": "hashing-256"}
        assert [next(iter(row)) for row in rows[1:]] == [
            *("cluster", "distilled"),
            *("value", "value", "value"),
            "retired",
        ]
        assert rows[2]["distilled"] == {
            "content": "kettles boil",
            "metadata": {"distilled": True, "parents": [IDS[0]], "reward": 1.0},
            "id": MemoryUnit("kettles boil").identity(),
        }
        assert rows[-1] == {"retired": {"unit_id": IDS[3], "status": "archived"}}

    HEADER = '{"memgene_learned":1,"embedder":""}'

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"value":{"unit_id":"a","cluster":"","q":2.0}}', "line 2 .* value .* q must lie"),
            ('{"value":{"unit_id":"a","cluster":"","q":"x"}}', "line 2 .* value .* q: "),
            ('{"value":{"unit_id":"a","cluster":"","q":NaN}}', "line 2 .* NaN"),
            ('{"value":{"unit_id":"a","q":0.5}}', "line 2 .* value .* cluster: Field required"),
            ('{"value":{"unit_id":"a","cluster":"","q":0.5,"n":1}}', "line 2 .* n: there is no"),
            ('{"distilled":{"content":"a","scope":{"user":"ann"}}}', "line 2 .* user: there is no"),
            ('{"distilled":{"content":"a","event_time":"then"}}', "line 2 .* event_time: "),
            ('{"retired":{"unit_id":"a","status":"active"}}', "line 2 .* is not active"),
            ('{"cluster":{"name":"a","centroid":"AAAA"}}', "line 2 .* cluster"),
            ('{"cluster":{"name":"a","centroid":"AAAAAA=="}}', "line 2 .* length 1"),
            ('{"relation":{}}', "line 2 .* must hold one of cluster, distilled, value, retired"),
            ('{"value":{},"retired":{}}', "line 2 .* must hold one of"),
            ('{"value":[]}', "line 2 .* value must be an object"),
            ("[1]", "line 2 .* not a JSON object"),
            ("{", "line 2 .* not JSON"),
        ],
    )
    def test_a_line_that_cannot_be_read_is_named(self, line: str, said: str) -> None:
        with pytest.raises(DataError, match=said):
            LearnedMemory.from_jsonl(f"{self.HEADER}\n{line}\n")

    @pytest.mark.parametrize(
        ("header", "said"),
        [
            ("", "line 1 .* not JSON"),
            ('{"memgene_bank":1}', "line 1 .* no header"),
            ('{"memgene_learned":2,"embedder":""}', "format 2, but this memgene reads 1"),
            ('{"memgene_learned":1}', "line 1 .* embedder: text expected"),
        ],
    )
    def test_other_texts_are_refused(self, header: str, said: str) -> None:
        with pytest.raises(DataError, match=said):
            LearnedMemory.from_jsonl(header)

    def test_clusters_of_different_sizes_are_refused(self) -> None:
        one = '{"cluster":{"name":"a","centroid":"AACAPw=="}}'
        two = '{"cluster":{"name":"b","centroid":"AACAPwAAAAA="}}'
        with pytest.raises(DataError, match="different dimensions"):
            LearnedMemory.from_jsonl(f"{self.HEADER}\n{one}\n{two}\n")
