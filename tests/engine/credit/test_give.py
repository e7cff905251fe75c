"""Credit of whole interactions, worked out by hand."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from memgene.bank import MemoryUnit
from memgene.bank.protocol import Relation, RelationKind, Value
from memgene.bank.unit import UnitStatus
from memgene.core import InputError, NotFoundError, Scope
from memgene.embed.hashing import HashingEmbedder
from memgene.engine.credit.give import give_credit, residuals
from memgene.engine.credit.interaction import Exposure, Interaction
from memgene.engine.credit.settings import CreditSettings, Rule
from memgene.engine.engine import MemoryEngine
from memgene.retrieval.clusters import STATE, QueryClusters

PLAIN = CreditSettings(conditional=False)


class TestRules:
    """δ of memories with Q = .4, .6, .5 and u = 1, .25, 0 for a reward of .8."""

    shown: ClassVar = {"a": 1.0, "b": 0.25, "c": 0.0}
    values: ClassVar = {"a": 0.4, "b": 0.6, "c": 0.5}

    def test_td_pulls_every_exposed_memory_to_its_share_of_the_reward(self) -> None:
        how = CreditSettings(Rule.TD, gamma=0.5)
        deltas = residuals(0.8, self.shown, self.values, 0.3, how)
        # .8·u + .5·.3 − Q
        assert deltas == pytest.approx({"a": 0.55, "b": -0.25, "c": -0.35})

    def test_gap_scales_the_whole_update_by_attribution(self) -> None:
        deltas = residuals(0.8, self.shown, self.values, 0.3, CreditSettings(Rule.GAP))
        assert deltas == pytest.approx({"a": 0.4, "b": 0.05})

    def test_used_moves_the_highest_attribution_alone(self) -> None:
        deltas = residuals(0.8, self.shown, self.values, 0.3, CreditSettings(Rule.USED))
        assert deltas == pytest.approx({"a": 0.4})

    def test_used_moves_all_that_share_the_highest_attribution(self) -> None:
        shown = {"a": 0.9, "b": 0.9, "c": 0.25}
        deltas = residuals(0.8, shown, self.values, 0.0, CreditSettings(Rule.USED))
        assert deltas == pytest.approx({"a": 0.4, "b": 0.2})

    def test_nothing_learns_where_nothing_was_used(self) -> None:
        """Ten memories that were merely shown are not to blame for what none of them held."""
        shown = {"a": 0.25, "b": 0.25, "c": 0.0}
        assert residuals(0.0, shown, self.values, 0.0, CreditSettings(Rule.USED)) == {}


class TestUpdate:
    def test_a_value_moves_by_alpha_from_the_neutral_start(self, memory: Any) -> None:
        credited = memory.give({0: 1.0, 1: 0.25}, 1.0)
        assert memory.values() == {(0, ""): (pytest.approx(0.5 + 0.3 * 0.5), 1)}
        (change,) = credited.changes
        assert (change.unit_id, change.before, change.hops) == (memory.ids[0], 0.5, 0)
        assert change.after == pytest.approx(0.65)
        assert credited.added is None
        assert memory.bank.get([memory.ids[0]])[0].utility == pytest.approx(0.65)

    def test_exposures_add_up(self, memory: Any) -> None:
        memory.give({0: 1.0}, 1.0)
        memory.give({0: 1.0}, 0.0)
        assert memory.values() == {(0, ""): (pytest.approx(0.65 * 0.7), 2)}

    def test_a_utility_that_was_given_is_the_first_value(self, memory: Any) -> None:
        (receipt,) = memory.engine.write([MemoryUnit("silver bowl", utility=0.9)])
        shown = (Exposure(receipt.id),)
        give_credit(memory.engine, Interaction(None, shown, 0.0), PLAIN)
        assert memory.bank.values([receipt.id]) == [Value(receipt.id, "", pytest.approx(0.63), 1)]

    def test_values_are_clipped(self, memory: Any) -> None:
        memory.value(0, 0.9)
        memory.value(1, 0.1)
        how = CreditSettings(Rule.TD, alpha=1.0, gamma=1.0, conditional=False)
        memory.give({0: 1.0, 1: 0.0}, 1.0, how, distilled=MemoryUnit("a bronze bell"))
        assert memory.q(0) == 1.0  # 1 + γ·1 → 2, clipped
        memory.give({0: 0.0, 1: 0.0}, 0.0, CreditSettings(Rule.TD, alpha=1.0, conditional=False))
        assert (memory.q(0), memory.q(1)) == (0.0, 0.0)

    def test_a_unit_shown_twice_counts_once_with_its_highest_part(self, memory: Any) -> None:
        one = memory.ids[0]
        for exposures, parts in ((1, (0.25, 1.0)), (2, (1.0, 0.25))):
            shown = (Exposure(one, parts[0]), Exposure(one, parts[1]), Exposure(memory.ids[1], 0.5))
            give_credit(memory.engine, Interaction(None, shown, 0.5), PLAIN)
            assert memory.values() == {(0, ""): (0.5, exposures)}

    def test_what_agrees_already_counts_as_exposed_but_does_not_change(self, memory: Any) -> None:
        credited = memory.give({0: 1.0}, 0.5)
        assert credited.changes == ()
        assert memory.values() == {(0, ""): (0.5, 1)}


class TestNeighbours:
    how = CreditSettings(Rule.GAP, alpha=0.5, hops=2, conditional=False)

    def test_neighbours_move_by_relational_credit(self, memory: Any) -> None:
        memory.edge(RelationKind.DENSE, 0, 1)
        memory.edge(RelationKind.SPARSE, 1, 2)
        credited = memory.give({0: 1.0}, 1.0, self.how)
        # δ = .5; shares .5 and .5·.4
        assert memory.q(0) == pytest.approx(0.5 + 0.5 * 0.5)
        assert memory.q(1) == pytest.approx(0.5 + 0.5 * 0.5 * 0.5)
        assert memory.q(2) == pytest.approx(0.5 + 0.5 * 0.5 * 0.2)
        hops = {memory.ids.index(c.unit_id): c.hops for c in credited.changes}
        assert hops == {0: 0, 1: 1, 2: 2}
        assert memory.values()[1, ""][1] == 0  # credited, not exposed

    def test_exposed_memories_move_by_their_own_residual_alone(self, memory: Any) -> None:
        memory.edge(RelationKind.DENSE, 0, 1)
        memory.give({0: 1.0, 1: 0.0}, 1.0, self.how)
        assert memory.q(0) == pytest.approx(0.75)
        assert memory.q(1) is None

    def test_later_memories_get_nothing_along_time(self, memory: Any) -> None:
        memory.edge(RelationKind.TIME, 0, 1)
        memory.edge(RelationKind.TIME, 1, 2)
        memory.give({1: 1.0}, 1.0, self.how)
        assert memory.q(0) == pytest.approx(0.5 + 0.5 * 0.3 * 0.5)
        assert memory.q(2) is None

    def test_archived_neighbours_are_left_alone(self, memory: Any) -> None:
        memory.edge(RelationKind.DENSE, 0, 1)
        memory.bank.set_status([memory.ids[1]], UnitStatus.ARCHIVED)
        memory.give({0: 1.0}, 1.0, self.how)
        assert memory.q(1) is None


class TestKindsOfQuery:
    how = CreditSettings(alpha=0.5)

    def test_mean_and_kind_move_each_from_its_own_value(self, asked: Any) -> None:
        boil = asked.give({0: 1.0}, 1.0, self.how, "boil some water").cluster
        read = asked.give({0: 1.0}, 0.0, self.how, "read late evening").cluster
        again = asked.give({0: 1.0}, 1.0, self.how, "boil some water").cluster
        assert boil == again
        assert "" != boil != read != ""
        # mean: .5 → .75 → .375 → .6875; boiling: .75 → .875; reading starts at the mean: .75 → .375
        assert asked.values() == {
            (0, ""): (pytest.approx(0.6875), 3),
            (0, boil): (pytest.approx(0.875), 2),
            (0, read): (pytest.approx(0.375), 1),
        }

    def test_both_changes_are_reported(self, asked: Any) -> None:
        credited = asked.give({0: 1.0}, 1.0, self.how, "boil some water")
        moved = [(c.cluster, c.before, c.after) for c in credited.changes]
        assert moved == [("", 0.5, 0.75), (credited.cluster, 0.5, 0.75)]

    def test_a_neighbour_moves_for_the_kind_only_where_it_has_a_value(self, asked: Any) -> None:
        asked.edge(RelationKind.DENSE, 0, 1)
        asked.edge(RelationKind.DENSE, 0, 2)
        how = CreditSettings(alpha=0.5, hops=1)
        kind = asked.give({1: 1.0}, 0.5, how, "boil some water").cluster
        asked.give({0: 1.0}, 1.0, how, "boil some water")
        assert asked.q(1, kind) == pytest.approx(0.5 + 0.5 * 0.5 * 0.5)
        assert asked.q(2) == pytest.approx(0.625)
        assert asked.q(2, kind) is None

    def test_kinds_are_kept_in_the_bank(self, asked: Any) -> None:
        credited = asked.give({0: 1.0}, 1.0, self.how, "boil some water")
        kept = QueryClusters.read(asked.bank.state(STATE), asked.engine.embedder)
        assert kept.names == (credited.cluster,)

    def test_near_queries_are_of_one_kind_and_kinds_are_bounded(self, asked: Any) -> None:
        how = CreditSettings(clusters_most=2)
        texts = ("boil some water", "boil water now", "read late evening", "mow tall grass")
        kinds = [asked.give({0: 1.0}, 1.0, how, text).cluster for text in texts]
        assert kinds[0] == kinds[1] != kinds[2]
        assert kinds[3] in kinds[:3]

    @pytest.mark.parametrize(
        ("how", "query"),
        [(CreditSettings(conditional=False), "boil some water"), (CreditSettings(), None)],
    )
    def test_without_a_kind_only_the_mean_moves(
        self, asked: Any, how: CreditSettings, query: str | None
    ) -> None:
        assert asked.give({0: 1.0}, 1.0, how, query).cluster == ""
        assert set(asked.values()) == {(0, "")}
        assert asked.bank.state(STATE) is None

    def test_a_query_without_words_has_no_kind(self, asked: Any) -> None:
        assert asked.give({0: 1.0}, 1.0, CreditSettings(), "?!").cluster == ""

    def test_a_memory_without_vectors_has_no_kinds(self, memory: Any) -> None:
        assert memory.give({0: 1.0}, 1.0, CreditSettings(), "boil some water").cluster == ""

    def test_kinds_of_another_embedder_are_started_anew(self, asked: Any) -> None:
        old = asked.give({0: 1.0}, 1.0, self.how, "boil some water").cluster
        other = MemoryEngine(asked.bank, HashingEmbedder(128))
        shown = (Exposure(asked.ids[0]),)
        new = give_credit(other, Interaction("boil some water", shown, 0.0), self.how).cluster
        assert new not in ("", old)
        assert asked.q(0, old) == 0.75


class TestDistilled:
    made = MemoryUnit("the kettle boils fast")

    def test_it_is_stored_with_its_parents_and_the_reward_as_value(self, asked: Any) -> None:
        credited = asked.give({1: 1.0, 0: 0.0}, 0.75, distilled=self.made)
        assert credited.added is not None
        (unit,) = asked.bank.get([credited.added])
        assert unit.content == self.made.content
        assert unit.metadata == {
            "distilled": True,
            "parents": sorted(asked.ids[:2]),
            "reward": 0.75,
        }
        assert asked.bank.values([unit.id]) == [Value(unit.id, "", 0.75, 0)]
        assert len(asked.bank.vectors([unit.id])[0]) == 1

    def test_it_starts_with_the_mean_of_its_sources_as_published(self, memory: Any) -> None:
        memory.value(0, 0.8)
        memory.value(1, 0.4)
        how = CreditSettings(Rule.TD, conditional=False, new_value="sources")
        added = memory.give({0: 1.0, 1: 0.5}, 1.0, how, distilled=self.made).added
        assert added is not None
        (value,) = memory.bank.values([added])
        assert value.q == pytest.approx(0.6)
        # δ = R·u + γ·.6 − Q, from values before the interaction
        assert memory.q(0) == pytest.approx(0.8 + 0.3 * (1.0 + 0.3 - 0.8))
        assert memory.q(1) == pytest.approx(0.4 + 0.3 * (0.5 + 0.3 - 0.4))

    def test_without_sources_it_starts_neutral(self, memory: Any) -> None:
        how = CreditSettings(Rule.TD, new_value="sources")
        added = memory.give({}, 1.0, how, distilled=self.made).added
        assert added is not None
        assert memory.bank.values([added])[0].q == 0.5

    def test_td_without_a_new_memory_has_nothing_ahead(self, memory: Any) -> None:
        memory.give({0: 1.0}, 1.0, CreditSettings(Rule.TD, conditional=False))
        assert memory.q(0) == pytest.approx(0.5 + 0.3 * (1.0 - 0.5))

    def test_what_was_distilled_before_keeps_its_value(self, memory: Any) -> None:
        first = memory.give({0: 1.0}, 1.0, distilled=self.made).added
        assert first is not None
        assert memory.give({0: 1.0}, 0.0, distilled=self.made).added is None
        assert memory.bank.values([first]) == [Value(first, "", 1.0, 0)]

    def test_one_the_bank_refuses_undoes_the_interaction(self, memory: Any) -> None:
        version = memory.bank.version()
        with pytest.raises(InputError, match=r"refuses the distilled memory: \w+"):
            memory.give({0: 1.0}, 1.0, distilled=MemoryUnit(" "))
        assert memory.bank.version() == version

    def test_it_gets_edges_at_once_where_a_graph_is_in_use(self, asked: Any) -> None:
        asked.engine.link()
        added = asked.give({0: 1.0}, 1.0, distilled=MemoryUnit("red kettle, a very red one")).added
        edges = asked.bank.relations([added])
        assert {e.source_id for e in edges} | {e.target_id for e in edges} == {added, asked.ids[0]}

    def test_or_later_where_that_is_asked(self, asked: Any) -> None:
        asked.engine.link()
        made = MemoryUnit("red kettle, a very red one")
        about = Interaction(None, (Exposure(asked.ids[0]),), 1.0, made)
        added = give_credit(asked.engine, about, PLAIN, link=False).added
        assert asked.bank.relations([added]) == []
        asked.engine.link()
        assert asked.bank.relations([added]) != []

    def test_without_a_graph_none_is_begun(self, asked: Any) -> None:
        asked.give({0: 1.0}, 1.0, distilled=MemoryUnit("red kettle, a very red one"))
        assert asked.bank.stats().relations == 0


class TestRefusals:
    def test_a_unit_that_is_not_there(self, memory: Any) -> None:
        about = Interaction(None, (Exposure(memory.ids[0]), Exposure("nobody")), 1.0)
        with pytest.raises(NotFoundError, match="'nobody'"):
            give_credit(memory.engine, about, PLAIN)
        assert memory.values() == {}

    def test_a_unit_of_another_owner(self, memory: Any) -> None:
        about = Interaction(None, (Exposure(memory.ids[0]),), 1.0)
        with pytest.raises(NotFoundError):
            give_credit(memory.engine, about, PLAIN, scope=Scope(user_id="ann"))

    def test_neighbours_of_another_owner_are_not_reached(self, memory: Any) -> None:
        (receipt,) = memory.engine.write([MemoryUnit("hers", scope=Scope(user_id="ann"))])
        memory.bank.relate([Relation(RelationKind.DENSE, memory.ids[0], receipt.id)])
        about = Interaction(None, (Exposure(memory.ids[0]),), 1.0)
        give_credit(memory.engine, about, CreditSettings(hops=1), scope=Scope())
        assert memory.bank.values([receipt.id]) == []

    @pytest.mark.parametrize(("reward", "part"), [(1.5, 1.0), (-0.1, 1.0), (1.0, 1.01), (1.0, -1)])
    def test_numbers_out_of_range(self, memory: Any, reward: float, part: float) -> None:
        with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
            memory.give({0: part}, reward)

    def test_nan_is_out_of_range(self, memory: Any) -> None:
        with pytest.raises(InputError):
            memory.give({0: 1.0}, float("nan"))
