"""Which sentences speak about a question, and how spans are weighed against each other."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from memgene.agents.extractive.evidence import Evidence, Scene, find_evidence, set_scene
from memgene.agents.extractive.lines import read_lines
from memgene.agents.extractive.question import understand
from memgene.agents.extractive.spans import LONGEST, Span, best_spans, settle
from memgene.core import Context


def scene(question: str, text: str) -> Scene:
    return set_scene(understand(question), read_lines(Context(text)))


def test_rarity_is_idf_in_units_of_a_word_said_once() -> None:
    found = scene("Who sings?", "Ana sings.\nBo sings.\nCarla paints.\nDan runs.")
    once = math.log(1 + 3.5 / 1.5)
    assert found.rare["paint"] == pytest.approx(1.0)
    assert found.rare["sing"] == pytest.approx(math.log(1 + 2.5 / 2.5) / once)


def test_cover_is_the_share_of_rarity_and_names_of_speakers_do_not_count() -> None:
    found = scene("What does Ana paint in Porto?", "Ana: I paint boats.\nBo: I run.")
    assert list(found.about) == ["paint", "porto"]
    paint, porto = found.about["paint"], found.about["porto"]
    assert porto > paint
    assert found.cover(frozenset(["paint"])) == pytest.approx(paint / (paint + porto))


def test_sentences_that_say_the_question_come_first() -> None:
    found = find_evidence(
        scene("What did Ana paint?", "Bo: Nice weather today.\nAna: I had tea. I painted a boat.")
    )
    assert found[0].sentence.text == "I painted a boat."
    assert found[0].features["most"] == 1.0
    assert found[-1].features["named"] == 0.0


def test_a_day_in_the_question_points_to_lines_of_that_day() -> None:
    text = "[2 May 2023] Ana: I baked bread.\n[9 May 2023] Ana: I baked cakes."
    found = find_evidence(scene("What did Ana bake on 9 May 2023?", text))
    near = {e.sentence.text: e.features["dated"] for e in found}
    assert near == {"I baked cakes.": 1.0, "I baked bread.": 0.0}


def test_spans_are_ranked_and_no_longer_than_allowed() -> None:
    where = scene("What did Ana bake?", f"Ana: I baked {'very ' * 20} good bread with olives.")
    found = best_spans(where, find_evidence(where))
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    assert max(len(s.words) for s in found) <= LONGEST


def test_a_span_shows_the_article_before_it() -> None:
    evidence = find_evidence(scene("What did Ana bake?", "Ana baked the bread."))
    assert Span(evidence[0], 3, 3, 0.0).text == "the bread"
    assert Span(evidence[0], 3, 3, 0.0).words == ("bread",)


def test_a_span_wins_that_shares_words_with_many_good_ones() -> None:
    (e,) = find_evidence(scene("What did Ana bake?", "Ana baked rye bread yesterday"))

    def span(first: int, last: int, chance: float, of: Evidence = e) -> Span:
        return Span(of, first, last, math.log(chance))

    lone = span(0, 0, 0.4)  # Ana
    pair = span(2, 3, 0.3)  # rye bread
    long = span(2, 4, 0.3)  # rye bread yesterday
    # Expected F1: lone 0.4 · 1; pair and long 0.3 · 1 + 0.3 · (2 · 2 / 5).
    assert settle([lone, pair, long]) == [pair, long, lone]
    assert settle([]) == []


def test_answers_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from memgene.agents.offline import OfflineAgent\n"
        "from memgene.core import Context, Question\n"
        "talk = 'Ana: I bake rye bread with olives, and I sing.\\nBo: Bread and songs, Ana!'\n"
        "for text in ('What does Ana bake?', 'Which things does Ana like?', 'Who sings?'):\n"
        "    print(OfflineAgent().respond(Question('q', text, 'g'), Context(talk), ''))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert "Answer(" in runs[0]
