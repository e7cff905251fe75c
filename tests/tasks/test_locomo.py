from __future__ import annotations

import json
from datetime import datetime

import pytest

from memgene.core import DataError, InputError
from memgene.tasks.benchmarks.locomo import parse_evidence, parse_moment
from memgene.tasks.registry import load_task


def turn(dia_id, speaker, text, **more):
    return {"dia_id": dia_id, "speaker": speaker, "text": text, **more}


def sample():
    """The official shape with its traps, in words of our own."""
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [
                turn("D2:1", "Bo", "The kite is mended."),
                turn("D2:2", "Ada", "Look!", blip_caption="a photo of a yellow kite", query="kite"),
            ],
            "session_10_date_time": "1:56 pm on 8 October, 2023",
            "session_10": [turn("D10:1", "Ada", "We flew it in Arles.")],
            "session_11_date_time": "2:00 pm on 9 October, 2023",
            "session_12": [],
            "session_12_date_time": "2:00 pm on 10 October, 2023",
        },
        "qa": [
            {
                "question": "How many kites?",
                "answer": 1,
                "evidence": ["D2:1; D2:2", "D2:1"],
                "category": 1,
            },
            {"question": "When?", "answer": "October", "evidence": ["D:10:01"], "category": 2},
            {"question": "Why?", "answer": "joy; fun", "evidence": [], "category": 3},
            {"question": "Where?", "answer": "Arles", "evidence": ["D", "D10:1"], "category": 4},
            {"question": "Who?", "answer": "Bo", "evidence": ["D99:1"], "category": 4},
            {
                "question": "What did Bo fly in Rome?",
                "adversarial_answer": "a kite",
                "evidence": ["D10:1"],
                "category": 5,
            },
        ],
        "event_summary": {},
        "observation": {},
        "session_summary": {},
    }


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "locomo" / "locomo10.json"
    path.parent.mkdir()
    path.write_text(json.dumps([sample()]), encoding="utf-8")
    return path


@pytest.fixture
def task(place):
    return load_task("locomo", place, unpinned=True)


def test_an_episode_is_a_session_that_has_turns(task):
    assert [e.id for e in task.episodes] == ["conv-1/S2", "conv-1/S10"]
    assert task.groups == ("conv-1",)
    assert task.episodes[0].time == datetime(2023, 9, 13, 0, 9)


def test_a_message_is_a_turn_with_speaker_time_and_caption(task):
    message = task.episodes[0].messages[1]
    assert message.id == "conv-1/D2:2"
    assert message.speaker == "Ada"
    assert message.time == datetime(2023, 9, 13, 0, 9)
    assert message.content == "Look! (a photo of a yellow kite)"


def test_categories_are_named_and_adversarial_is_set_apart(task):
    assert [q.gold.category for q in task.questions] == [
        "multi-hop",
        "temporal",
        "open-domain",
        "single-hop",
        "single-hop",
        "adversarial",
    ]
    assert task.set_apart == {"adversarial"}
    assert task.metric == "token_f1"


def test_an_adversarial_question_is_not_answerable_and_its_trap_is_no_gold(task):
    gold = task.questions[5].gold
    assert gold.answers == ()
    assert gold.metadata["trap"] == "a kite"


def test_number_answers_are_text(task):
    assert task.questions[0].gold.answers == ("1",)


def test_joined_and_malformed_evidence_is_read(task):
    assert task.questions[0].gold.evidence == ("conv-1/D2:1", "conv-1/D2:2")
    assert task.questions[1].gold.evidence == ("conv-1/D10:1",)


def test_what_cannot_be_resolved_is_named(task):
    assert task.questions[3].gold.evidence == ("conv-1/D10:1",)
    assert task.questions[3].gold.metadata["unresolved"] == ["D"]
    assert task.questions[3].gold.unusable is None
    assert {x.question_id: x.reason for x in task.exclusions} == {
        "conv-1/Q2": "no evidence is given",
        "conv-1/Q4": "evidence names no turn: 'D99:1'",
    }
    assert task.questions[4].gold.unusable == "evidence names no turn: 'D99:1'"


@pytest.mark.parametrize(
    ("strings", "turns", "unreadable"),
    [
        (["D8:6; D9:17"], ("D8:6", "D9:17"), ()),
        (["D:11:26"], ("D11:26",), ()),
        (["D30:05"], ("D30:5",), ()),
        (["D9:1 D4:4 D4:6"], ("D9:1", "D4:4", "D4:6"), ()),
        (["D", "D1:18"], ("D1:18",), ("D",)),
        (["D1:2", "D1:2"], ("D1:2",), ()),
        ([], (), ()),
    ],
)
def test_evidence_strings(strings, turns, unreadable):
    assert parse_evidence(strings) == (turns, unreadable)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9)),
        ("12:30 pm on 1 January, 2022", datetime(2022, 1, 1, 12, 30)),
    ],
)
def test_session_times_are_naive(text, moment):
    assert parse_moment(text) == moment


def test_a_time_of_another_form_is_an_error():
    with pytest.raises(DataError, match="2023-05-08"):
        parse_moment("2023-05-08")


def test_another_file_than_the_official_one_needs_consent(place):
    with pytest.raises(DataError, match=r"SHA-256 is [0-9a-f]{64}, expected 79fa87e9"):
        load_task("locomo", place)


def test_a_file_of_another_shape_is_an_error_that_names_it(place):
    place.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"not the shape of locomo10\.json"):
        load_task("locomo", place, unpinned=True)
    place.write_text("[", encoding="utf-8")
    with pytest.raises(DataError, match="not readable as JSON"):
        load_task("locomo", place, unpinned=True)


def test_the_folder_above_is_enough(place, monkeypatch):
    assert load_task("locomo", place.parent.parent, unpinned=True).episodes
    monkeypatch.setenv("MEMGENE_DATA", str(place.parent))
    assert load_task("locomo", unpinned=True).episodes


def entry(number, kind, answer, evidence):
    return {
        "question_id": f"locomo_0_qa{number}",
        "question": sample()["qa"][number]["question"],
        "error_type": kind,
        "correct_answer": answer,
        "correct_evidence": evidence,
    }


@pytest.fixture
def audited(place):
    def load(*entries):
        path = place.with_name("audit_errors.json")
        path.write_text(json.dumps(entries), encoding="utf-8")
        return load_task("locomo", place, unpinned=True, audit=True)

    return load


def test_a_wrong_citation_keeps_the_answer(audited, task):
    fixed = audited(entry(1, "WRONG_CITATION", "9 October", ["D2:2", "D2:2"]))
    gold = fixed.questions[1].gold
    assert gold.answers == ("October",)
    assert gold.evidence == ("conv-1/D2:2",)
    assert gold.metadata["audit"] == "WRONG_CITATION"
    assert fixed.fingerprint != task.fingerprint


@pytest.mark.parametrize("kind", ["HALLUCINATION", "TEMPORAL_ERROR", "INCOMPLETE"])
def test_a_wrong_answer_is_replaced_without_its_citations(audited, kind):
    gold = audited(entry(0, kind, "Two (D2:1, D2:2).", ["D2:1"])).questions[0].gold
    assert gold.answers == ("Two",)
    assert gold.evidence == ("conv-1/D2:1",)


@pytest.mark.parametrize(
    "correction",
    [
        entry(0, "ATTRIBUTION_ERROR", "Two", ["D2:1"]),
        entry(0, "AMBIGUOUS", "Two", ["D2:1"]),
        entry(0, "HALLUCINATION", "Cannot be determined from the transcript", ["D2:1"]),
        entry(0, "TEMPORAL_ERROR", "Two (but the question says three)", ["D2:1"]),
        entry(0, "TEMPORAL_ERROR", "Two", []),
        entry(0, "WRONG_CITATION", "Two", ["D77:1"]),
    ],
)
def test_what_has_no_true_answer_is_excluded_and_named(audited, correction):
    fixed = audited(correction)
    assert "conv-1/Q0" not in {q.id for q in fixed.questions}
    reasons = {x.question_id: x.reason for x in fixed.exclusions}
    assert reasons["conv-1/Q0"] == f"audit: {correction['error_type']}"
    assert reasons["conv-1/Q2"] == "no evidence is given"


def test_an_overlay_can_make_evidence_usable(audited):
    fixed = audited(entry(4, "WRONG_CITATION", "Bo", ["D2:1"]))
    assert fixed.questions[4].gold.unusable is None
    assert "conv-1/Q4" not in {x.question_id for x in fixed.exclusions}


def test_an_overlay_of_other_data_is_refused(audited, place):
    with pytest.raises(DataError, match="another question"):
        audited({**entry(0, "AMBIGUOUS", "x", ["D2:1"]), "question": "Which?"})
    with pytest.raises(DataError, match="error_type 'TYPO'"):
        audited(entry(0, "TYPO", "x", ["D2:1"]))
    with pytest.raises(DataError, match="not in the data"):
        audited({**entry(0, "AMBIGUOUS", "x", ["D2:1"]), "question_id": "locomo_7_qa0"})
    place.with_name("audit_errors.json").unlink()
    with pytest.raises(DataError, match=r"audit_errors\.json is not here"):
        load_task("locomo", place, unpinned=True, audit=True)


def test_unknown_options_are_refused(place):
    with pytest.raises(InputError, match="no option audits; it has: audit, unpinned"):
        load_task("locomo", place, audits=True)
