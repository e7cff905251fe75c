"""What structure passes need not ask again."""

from __future__ import annotations

from memgene.evolution.joint.structure import Known
from memgene.evolution.programs.candidates import Seen
from memgene.evolution.programs.observed import Observed
from memgene.programs.normal import normal_hash
from memgene.programs.seeds import seed
from memgene.retrieval.config import RetrievalConfig

HERE, ELSEWHERE = RetrievalConfig(), RetrievalConfig(context_k=3)
BANK, PLAIN = seed("bank"), seed("vector-search")
SEEN = Seen((), Observed())


def known() -> Known:
    made = Known()
    made.add(HERE, BANK, "01-structure/000", SEEN)
    made.add(HERE, PLAIN, "01-structure/001", SEEN)
    return made


def test_a_program_over_the_bank_is_known_under_its_configuration_alone() -> None:
    assert set(known().under(HERE)) == {BANK.digest, PLAIN.digest}
    assert set(known().under(ELSEWHERE)) == {PLAIN.digest}


def test_so_are_names_that_make_a_draft_a_duplicate() -> None:
    assert known().names_under(ELSEWHERE) == {normal_hash(PLAIN.source): "01-structure/001"}
    assert known().names_under(HERE)[normal_hash(BANK.source)] == "01-structure/000"


def test_what_was_refused_is_no_news_under_the_same_configuration() -> None:
    made = known()
    told = {"a" * 12: "004", normal_hash(PLAIN.source): "01-structure/001"}
    made.refused(HERE, told, 2)
    assert made.names_under(HERE)["a" * 12] == "02-structure/004"
    assert "a" * 12 not in made.names_under(ELSEWHERE)
