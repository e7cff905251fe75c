"""What every backend promises: full text, vectors, relations, values."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest

from memgene.bank import (
    Bank,
    EmbedderInfo,
    Event,
    Filter,
    MemoryUnit,
    Relation,
    RelationKind,
    UnitStatus,
    Value,
)
from memgene.core import (
    EmbedderMismatchError,
    InputError,
    NotFoundError,
    Scope,
)
from memgene.testing.banks import found, put

TINY = EmbedderInfo("tiny", 2)


class TestSearching:
    def test_words_are_found_by_their_stem_without_accents(self, bank: Bank) -> None:
        (a, b) = put(bank, "She was running in Málaga", "nothing here")
        assert found(bank, "runs") == found(bank, "MALAGA") == found(bank, "málaga") == [a]
        assert found(bank, "runs", "nothing") in ([a, b], [b, a])

    def test_speaker_date_summary_entities_and_topics_are_searched(self, bank: Bank) -> None:
        unit = MemoryUnit(
            "hello",
            speaker="Wendelin",
            event_time=datetime(2023, 5, 8),
            summary="greeting",
            entities=("Graz", "Castle Hill"),
            topics=("manners",),
        )
        (unit_id,) = put(bank, unit)
        put(bank, "nothing else")
        for term in ("wendelin", "May", "2023", "8", "greetings", "graz", "castle", "manner"):
            assert found(bank, term) == [unit_id]
        assert found(bank, "persons") == []

    def test_more_and_rarer_terms_score_higher(self, bank: Bank) -> None:
        ids = put(bank, "common one", "common two", "rare three", "both four")
        put(bank, *(f"padding number {n}" for n in range(20)))
        bank.update(replace(bank.get([ids[3]])[0], content="common rare"))
        matches = bank.search_text(["common", "rare"], None, 10)
        assert [m.id for m in matches] == [ids[3], ids[2], ids[0], ids[1]]
        scores = [m.score for m in matches]
        assert scores == sorted(scores, reverse=True)
        assert min(scores) > 0
        assert bank.search_text(["common", "rare"], None, 2) == matches[:2]

    def test_ties_keep_the_order_of_insertion(self, bank: Bank) -> None:
        ids = put(bank, *(MemoryUnit("same words", source=f"s{n}") for n in range(50)))
        assert [m.id for m in bank.search_text(["same"], None, 50)] == ids

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("我喜欢东京的猫", "东京"),
            ("我喜欢东京的猫", "猫"),
            ("我喜欢东京的猫", "喜欢东京"),
            ("猫が好きです。", "好き"),
            ("ฉันชอบแมวสีดำ", "แมว"),
            ("ខ្ញុំចូលចិត្តឆ្មា", "ឆ្មា"),
            ("ຂ້ອຍມັກແມວ", "ແມວ"),
            ("ကျွန်တော်ကြောင်ကိုချစ်တယ်", "ကြောင်"),
            ("학교에 갔다", "학교"),
            ("我用iPhone手机", "iphone手机"),
            ("血型是A型", "a型"),
        ],
    )
    def test_scripts_without_spaces_are_found_by_substring(
        self, bank: Bank, text: str, term: str
    ) -> None:
        (unit_id,) = put(bank, text)
        put(bank, "something in English", "别的东西", "ไม่มีอะไร")
        assert found(bank, term) == [unit_id]
        assert bank.document_frequency([term]) == {term: 1}
        bank.set_status([unit_id], UnitStatus.ARCHIVED)
        assert found(bank, term) == []

    def test_words_and_substrings_add_up(self, bank: Bank) -> None:
        both, word, part = put(bank, "Kyoto 東京都 trip", "Kyoto trip at last", "東京都 の 旅")
        put(bank, *(f"padding {n} 別" for n in range(20)))
        assert found(bank, "kyoto", "東京都")[0] == both
        assert set(found(bank, "kyoto", "東京都")) == {both, word, part}
        assert set(found(bank, "kyoto", "東")) == {both, word, part}

    @pytest.mark.parametrize(
        "term",
        ['"', '""', "a AND", "NOT", "OR", "(", "content:x", "x*", "^x", "NEAR(a b)", "-x", "+", "'",
         "\\", "\x00", "\ud800", "", " ", "!!!", "{a b}:", "a\nb", "\ue0001\ue001", "x" * 5000],
    )  # fmt: skip
    def test_no_term_is_syntax(self, bank: Bank, term: str) -> None:
        (unit_id,) = put(bank, "ordinary words")
        assert found(bank, term) == []
        assert found(bank, term, "ordinary") == [unit_id]
        assert bank.document_frequency([term]) == {term: 0}

    def test_a_term_of_several_words_is_a_phrase(self, bank: Bank) -> None:
        (a, _) = put(bank, "the well-known painter", "known well to all")
        assert found(bank, "well-known") == [a]
        assert bank.document_frequency(["well-known"]) == {"well-known": 1}

    def test_nothing_asked_nothing_found(self, bank: Bank) -> None:
        put(bank, "hello")
        assert bank.search_text([], None, 5) == bank.search_text(["hello"], None, 0) == []
        where = Filter(statuses=(UnitStatus.ARCHIVED,))
        assert bank.search_text(["hello"], None, 5, where) == []

    def test_thousands_of_terms(self, bank: Bank) -> None:
        (unit_id,) = put(bank, "needle")
        assert found(bank, *(f"w{n}" for n in range(3000)), "needle") == [unit_id]

    def test_matches_by_sequence_number_are_those_by_id(self, bank: Bank) -> None:
        put(bank, "a red boat", "a red car", "漢字の船", "tea")
        seq = {unit.id: unit.seq for unit in bank.scan()}
        for terms in (["red", "boat"], ["red", "漢字の船"], ["漢", "tea"], []):
            named = [(seq[m.id], m.score) for m in bank.search_text(terms, None, 2)]
            assert bank.match_text(terms, None, 2) == named
        only = Filter(sources=("elsewhere",))
        assert bank.match_text(["red"], None, 5, only) == []
        assert bank.match_text(["red"], Scope("nobody"), 5) == []

    def test_document_frequency_counts_units_over_all_owners(self, bank: Bank) -> None:
        put(
            bank,
            MemoryUnit("cats and cats", scope=Scope("a")),
            MemoryUnit("a cat", scope=Scope("b")),
            "no pets",
        )
        assert bank.document_frequency(["cat", "pet", "dog"]) == {"cat": 2, "pet": 1, "dog": 0}


class TestVectors:
    def test_vectors_come_back_in_the_order_asked(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        matrix = np.array([[1, 0], [0.1, -2], [3e-39, 7]], np.float32)
        ids = [r.id for r in bank.add([MemoryUnit(c) for c in "abc"], matrix)]
        put(bank, "without")
        names, stored = bank.vectors([ids[2], "unknown", ids[0]])
        assert names == [ids[2], ids[0]]
        assert stored.dtype == np.float32
        assert stored.tobytes() == matrix[[2, 0]].tobytes()
        assert bank.all_vectors()[0] == ids
        assert bank.all_vectors()[1].tobytes() == matrix.tobytes()
        assert bank.all_vectors(after=1)[0] == ids[1:]

    def test_a_bank_without_vectors_gives_an_empty_matrix(self, bank: Bank) -> None:
        assert bank.embedder() is None
        assert bank.all_vectors()[1].shape == (0, 0)
        bank.set_embedder(TINY)
        assert bank.all_vectors()[1].shape == (0, 2)
        assert bank.embedder() == TINY

    def test_refused_and_merged_units_do_not_shift_the_rows(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        (plain,) = put(bank, "a")
        units = [MemoryUnit(" "), MemoryUnit("a"), MemoryUnit("b"), MemoryUnit("b")]
        receipts = bank.add(units, np.array([[9, 9], [1, 1], [2, 2], [3, 3]], np.float32))
        names, matrix = bank.all_vectors()
        assert names == [plain, receipts[2].id]
        assert matrix.tolist() == [[1, 1], [2, 2]]
        assert bank.history(plain)[-1].event is Event.REEMBED

    def test_another_embedder_is_an_error_while_vectors_are_stored(self, bank: Bank) -> None:
        bank.set_embedder(EmbedderInfo("early", 3))
        bank.set_embedder(TINY)
        bank.add([MemoryUnit("a")], np.ones((1, 2), np.float32))
        for other in (EmbedderInfo("tiny", 3), EmbedderInfo("huge", 2)):
            with pytest.raises(EmbedderMismatchError, match=r"tiny.*memgene reembed"):
                bank.set_embedder(other)
        assert bank.embedder() == TINY

    @pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2,), (1, 0)])
    def test_a_wrong_shape_is_an_error(self, bank: Bank, shape: tuple[int, ...]) -> None:
        bank.set_embedder(TINY)
        with pytest.raises(InputError, match="shape"):
            bank.add([MemoryUnit("a")], np.ones(shape, np.float32))
        assert list(bank.scan()) == []

    def test_vectors_need_an_embedder_and_finite_numbers(self, bank: Bank) -> None:
        with pytest.raises(InputError, match="set_embedder"):
            bank.add([MemoryUnit("a")], np.ones((1, 2), np.float32))
        bank.set_embedder(TINY)
        with pytest.raises(InputError, match="NaN"):
            bank.add([MemoryUnit("a")], np.full((1, 2), np.nan, np.float32))

    def test_re_embedding_swaps_all_vectors(self, bank: Bank) -> None:
        bank.set_embedder(TINY)
        a, b = (r.id for r in bank.add([MemoryUnit(c) for c in "ab"], np.ones((2, 2), np.float32)))
        (c,) = put(bank, "c")
        version = bank.version()
        new = EmbedderInfo("new", 3)
        bank.replace_vectors(new, [c, a], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
        assert bank.embedder() == new
        assert bank.all_vectors()[0] == [a, c]
        assert bank.all_vectors()[1].tolist() == [[4, 5, 6], [1, 2, 3]]
        assert bank.changed_since(version) == {a, b, c}
        with pytest.raises(NotFoundError):
            bank.replace_vectors(TINY, ["nobody"], np.ones((1, 2), np.float32))
        assert bank.embedder() == new
        assert bank.verify() == []


class TestRelationsAndValues:
    def test_relations_are_added_updated_and_found_from_either_end(self, bank: Bank) -> None:
        a, b, c = put(bank, "a", "b", "c")
        near = Relation(RelationKind.DENSE, a, b, 0.5)
        later = Relation(RelationKind.TIME, b, c)
        assert bank.relate([later, near]) == 2
        assert bank.relate([later, near]) == 0
        assert bank.relations([b]) == [near, later]
        assert bank.relations([a]) == [near]
        assert bank.relations([a, b, c], [RelationKind.TIME]) == [later]
        heavier = replace(near, weight=0.75)
        assert bank.relate([heavier]) == 1
        assert bank.relations([a]) == [heavier]
        assert [r.event for r in bank.history(a)] == [Event.ADD, Event.RELATE, Event.RELATE]

    def test_both_ends_must_exist_and_differ(self, bank: Bank) -> None:
        (a,) = put(bank, "a")
        with pytest.raises(NotFoundError):
            bank.relate([Relation(RelationKind.TIME, a, "nobody")])
        with pytest.raises(InputError):
            bank.relate([Relation(RelationKind.TIME, a, a)])

    def test_values_are_kept_per_kind_of_query(self, bank: Bank) -> None:
        a, b = put(bank, "a", "b")
        values = [Value(a, "", 0.75, 3), Value(a, "when", -1.5, 1), Value(b, "when", 0.5)]
        bank.set_values(values)
        assert bank.values([a, b]) == values
        assert bank.values([b, a]) == [values[2], *values[:2]]
        assert [u.utility for u in bank.scan()] == [0.75, 0.5]
        bank.set_values([Value(a, "", 0.25, 4)], Event.FEEDBACK)
        last = bank.history(a)[-1]
        assert last.event is Event.FEEDBACK
        assert last.payload == {
            "cluster": "",
            "q": 0.25,
            "exposures": 4,
            "before": {"q": 0.75, "exposures": 3},
        }
        version = bank.version()
        bank.set_values([Value(a, "", 0.25, 4)])
        assert bank.version() == version

    def test_values_by_kind_of_query_alone(self, bank: Bank) -> None:
        a, b = put(bank, "a", "b")
        values = [Value(a, "", 0.75, 3), Value(a, "when", -1.5, 1), Value(b, "", 0.5, 1)]
        bank.set_values(values)
        assert bank.values([b, a], by_kind=True) == [values[1]]

    def test_utilities_are_those_of_admitted_units(self, bank: Bank) -> None:
        ann, ben = Scope("ann"), Scope("ben")
        a, b, c = put(
            bank, MemoryUnit("a", scope=ann), MemoryUnit("b", scope=ann), MemoryUnit("c", scope=ben)
        )
        bank.set_values([Value(a, "", 0.75), Value(b, "", 0.25), Value(c, "", 1.0)])
        bank.set_status([b], UnitStatus.ARCHIVED)
        ids = [c, "unknown", "\ud800", b, a]
        every = Filter(statuses=tuple(UnitStatus))
        assert bank.utilities(ids) == {a: 0.75, c: 1.0}
        assert bank.utilities(ids, None, every) == {a: 0.75, b: 0.25, c: 1.0}
        assert bank.utilities(ids, ann, every) == {a: 0.75, b: 0.25}
        assert bank.utilities(ids, Scope("nobody")) == {}

    def test_edges_of_thousands_of_units_come_once_and_in_order(self, bank: Bank) -> None:
        ids = put(bank, *(f"number {n}" for n in range(1003)))
        chain = [Relation(RelationKind.TIME, a, b) for a, b in pairwise(ids)]
        far = Relation(RelationKind.DENSE, ids[0], ids[-1], 0.5)
        bank.relate([*chain, far])
        assert bank.relations(ids) == [chain[0], far, *chain[1:]]
        assert bank.relations(ids, (RelationKind.DENSE,)) == [far]
        assert bank.relations(ids[:1], (RelationKind.SPARSE,)) == []

    def test_utility_and_the_value_over_all_queries_are_one(self, bank: Bank) -> None:
        (a,) = put(bank, "a")
        bank.set_values([Value(a, "", 0.75)])
        bank.update(replace(bank.get([a])[0], utility=0.5))
        assert bank.values([a]) == [Value(a, "", 0.5)]
        with pytest.raises(InputError):
            bank.set_values([Value(a, "", 1.5)])
        with pytest.raises(NotFoundError):
            bank.set_values([Value("nobody", "", 0.5)])
