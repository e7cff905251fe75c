from __future__ import annotations

import pytest

from memgene.tasks.check import check_folder

TASK = 'name = "mine"\nmemory = "own_group"\n'


def episode(group, **more):
    return {"id": f"e-{group}", "group": group, "text": f"about {group}", **more}


def questions(*groups, count=10):
    return [
        {
            "id": f"{group}-{n}",
            "group": group,
            "question": f"what is {n}?",
            "answer": "x",
            "evidence": [f"e-{group}"],
        }
        for group in groups
        for n in range(count)
    ]


@pytest.fixture
def check(tmp_path, write_lines):
    """Check a folder made of the given parts; sound parts stand in for those left out."""

    def run(task=TASK, episodes=None, asked=None):
        (tmp_path / "task.toml").write_text(task, encoding="utf-8")
        if not isinstance(episodes, bytes):
            write_lines(
                tmp_path / "episodes.jsonl",
                [episode("a"), episode("b"), episode("c")] if episodes is None else episodes,
            )
        else:
            (tmp_path / "episodes.jsonl").write_bytes(episodes)
        sound = questions("a", "b", "c") if asked is None else asked
        write_lines(tmp_path / "questions.jsonl", sound)
        return check_folder(tmp_path)

    return run


def errors(report):
    return [str(problem) for problem in report.errors]


def warnings(report):
    return [str(problem) for problem in report.warnings]


def test_a_sound_folder_has_a_summary_and_nothing_to_say(check):
    report = check()
    assert report.ok
    assert report.errors == report.warnings == ()
    assert (report.summary.groups, report.summary.episodes, report.summary.questions) == (3, 3, 30)
    assert report.summary.usable == 30


def test_missing_files_are_named(tmp_path):
    found = errors(check_folder(tmp_path))
    assert [line.split(":")[0] for line in found] == [
        "task.toml",
        "episodes.jsonl",
        "questions.jsonl",
    ]
    assert all("the file is missing" in line for line in found)


def test_broken_json_is_shown_with_line_and_column(check):
    report = check(episodes=b'{"id": "e", "group": "g", "text": "x"}\n\n{"id": 1,}\n')
    assert "episodes.jsonl:3: not JSON: " in errors(report)[0]
    assert "at column 10" in errors(report)[0]
    assert report.summary is None


def test_bytes_that_are_not_utf8_are_shown_with_their_line(check):
    report = check(episodes=b'{"id": "e"}\n{"text": "\xff"}\n')
    assert "episodes.jsonl:2: not UTF-8 at byte 11 of the line" in errors(report)


def test_lone_surrogates_are_refused(check):
    report = check(episodes=b'{"id": "e", "group": "g", "text": "\\ud800"}\n')
    assert "lone surrogate" in errors(report)[0]


def test_every_problem_of_a_line_is_told_and_all_lines_are_read(check):
    report = check(
        episodes=[
            {"id": "e", "group": "a", "txt": "x"},
            {"id": 5, "group": "a", "text": "x"},
            {"id": "f", "group": "a", "messages": [{"speaker": "Ann"}]},
            {"id": "g", "group": "a", "text": "x", "time": "yesterday"},
            {"id": "h", "group": "a", "messages": []},
        ]
    )
    assert errors(report)[:6] == [
        "episodes.jsonl:1: unknown key 'txt'",
        "episodes.jsonl:2: id: must be text",
        "episodes.jsonl:3: key 'messages[0].text' is missing",
        "episodes.jsonl:4: time: 'yesterday' is not ISO 8601 like 2023-05-08T13:56",
        "episodes.jsonl:5: the episode has no message with text",
        "questions.jsonl:1: group 'a' has no episodes, so nothing could be remembered for it",
    ]


def test_an_episode_has_text_or_messages_not_both(check):
    both = episode("a", messages=[{"text": "x"}])
    neither = {"id": "n", "group": "a"}
    found = errors(check(episodes=[both, neither, episode("b"), episode("c")]))
    assert found[0] == "episodes.jsonl:1: an episode has either text or messages"
    assert found[1] == "episodes.jsonl:2: an episode has either text or messages"


def test_an_answer_must_be_there_even_if_null(check):
    asked = questions("a", "b", "c")
    del asked[0]["answer"]
    asked[1]["answer"] = []
    asked[2]["answer"] = True
    asked[3]["answer"] = {"text": "x"}
    found = errors(check(asked=asked))
    assert found[0].startswith("questions.jsonl:1: answer is missing; null says")
    assert found[1].startswith("questions.jsonl:2: the list of answers is empty")
    assert found[2:4] == [
        "questions.jsonl:3: answer: must be text or a list",
        "questions.jsonl:4: answer: must be text or a list",
    ]


def test_task_toml_errors_name_the_line_of_the_key(check):
    found = errors(check(task=TASK + 'metric = "rouge"\ncolour = 1\n[hints]\nx = 3\n'))
    assert found[0].startswith("task.toml:3: metric: there is no metric 'rouge'")
    assert "task.toml:4: unknown key 'colour'" in found
    assert any(line.startswith("task.toml:6: hints.x:") for line in found)
    assert errors(check(task='name = "x"\n'))[0] == "task.toml:1: key 'memory' is missing"
    assert "task.toml:2: memory: must be 'own_group' or 'shared'" in errors(
        check(task='name = "x"\nmemory = "mine"\n')
    )
    assert errors(check(task="name = \n"))[0].startswith("task.toml:1: not TOML")
    assert any("less than or equal to 1" in e for e in errors(check(task="format = 2\n" + TASK)))


def test_ids_stand_for_one_thing(check):
    episodes = [
        episode("a"),
        episode("b", id="e-a"),
        episode("c", text=None, messages=[{"text": "x", "id": "e-a:0"}, {"text": "y"}]),
    ]
    asked = [*questions("a"), questions("a")[0]]
    found = errors(check(episodes=episodes, asked=asked))
    assert "episodes.jsonl:2: id 'e-a' is already used on line 1" in found
    assert "episodes.jsonl:3: id 'e-a:0' is already used on line 1" in found
    assert "questions.jsonl:11: id 'a-0' is already used on line 1" in found


def test_a_message_id_may_not_repeat_inside_its_episode(check):
    twice = episode("a", text=None, messages=[{"text": "x", "id": "m"}, {"text": "y", "id": "m"}])
    found = errors(check(episodes=[twice, episode("b"), episode("c")]))
    assert "episodes.jsonl:1: id 'm' is already used on line 1" in found


def test_evidence_must_exist_and_be_in_the_questions_memory(check):
    asked = questions("a", "b", "c")
    asked[0]["evidence"] = ["e-a:0", "nowhere"]
    asked[1]["evidence"] = ["e-b"]
    assert errors(check(asked=asked)) == [
        "questions.jsonl:1: evidence 'nowhere' is no episode and no message",
        "questions.jsonl:2: evidence 'e-b' is in group 'b', the question in 'a'",
    ]


def test_own_group_needs_groups_and_their_episodes(check):
    asked = questions("a", "b", "c")
    asked[0]["group"] = "z"
    del asked[1]["group"]
    nameless = {"id": "n", "text": "x"}
    found = errors(
        check(episodes=[episode("a"), episode("b"), episode("c"), nameless], asked=asked)
    )
    assert found == [
        "episodes.jsonl:4: key 'group' is missing (memory = own_group)",
        "questions.jsonl:1: group 'z' has no episodes, so nothing could be remembered for it",
        "questions.jsonl:2: key 'group' is missing (memory = own_group)",
    ]


def test_shared_memory_needs_no_groups(check):
    episodes = [{"id": f"e{n}", "text": "x"} for n in range(4)]
    asked = [
        {"id": f"q{n}", "question": f"{n}?", "answer": "x", "evidence": ["e0"]} for n in range(60)
    ]
    report = check(task='name = "x"\nmemory = "shared"\n', episodes=episodes, asked=asked)
    assert report.ok, errors(report)
    assert report.warnings == ()


def test_three_groups_are_needed_to_split(check):
    report = check(asked=questions("a", "b"))
    assert not report.ok
    assert "none is left for" in errors(report)[0]


def test_fixed_splits_must_name_groups_once(check):
    fixed = TASK + '[splits]\ndev = ["a", "zz"]\nval = ["b"]\ntest = ["c", "a"]\n'
    assert errors(check(task=fixed)) == [
        "task.toml:3: group 'a' is named 2 times in splits",
        "task.toml:3: splits name group 'zz', which does not exist",
    ]
    sound = TASK + '[splits]\ndev = ["a"]\nval = ["b"]\ntest = ["c"]\n'
    assert check(task=sound).ok
    lacking = TASK + '[splits]\ndev = ["a", "c"]\nval = ["b"]\n'
    assert "none is left for test" in errors(check(task=lacking))[0]


def test_choices_must_hold_the_answer(check):
    asked = questions("a", "b", "c")
    asked[0] |= {"choices": ["x", "y"], "answer": "B"}
    asked[1] |= {"choices": ["x", "y"], "answer": "C"}
    assert errors(check(asked=asked)) == [
        "questions.jsonl:2: answer 'C' is none of the choices, nor a choice's letter"
    ]


def test_small_splits_groups_without_questions_and_repeats_are_warnings(check):
    asked = questions("a", "b", "c", count=3)
    asked[1]["question"] = asked[0]["question"]
    del asked[2]["evidence"]
    episodes = [episode("a"), episode("b"), episode("c"), episode("quiet")]
    report = check(episodes=episodes, asked=asked)
    assert report.ok
    found = warnings(report)
    assert sum("has 3 questions" in line for line in found) == 3
    assert "episodes.jsonl:4: group 'quiet' has no questions" in found
    assert "questions.jsonl:2: the same question is asked on line 1" in found
    assert any("1 of 9 questions name no evidence" in line for line in found)


def test_empty_files_are_errors(check):
    assert "episodes.jsonl:1: the file is empty" in errors(check(episodes=b"\n"))


def test_lines_that_are_no_objects_and_wrong_kinds_are_told_in_plain_words(check):
    asked = [
        [1, 2],
        "text",
        {**questions("a")[0], "id": ""},
        {**questions("a")[1], "evidence": "e-a", "metadata": [1]},
        {**questions("a")[2], "rubric": [{"criterion": "x", "points": "many"}, 3]},
    ]
    found = errors(check(task=TASK + "hints = 3\n", asked=asked))
    assert found == [
        "task.toml:3: hints: must be an object of keys and values",
        "questions.jsonl:1: must be a JSON object",
        "questions.jsonl:2: must be a JSON object",
        "questions.jsonl:3: id: must be text that is not empty",
        "questions.jsonl:4: evidence: must be a list",
        "questions.jsonl:4: metadata: must be an object of keys and values",
        "questions.jsonl:5: rubric[0].points: must be a number",
        "questions.jsonl:5: rubric[1]: must be an object of keys and values",
    ]


@pytest.mark.parametrize(
    ("metric", "without"),
    [("recall@10", "evidence"), ("mcq_accuracy", None), ("evidence_in_text", "evidence")],
)
def test_a_metric_that_applies_to_no_question_is_an_error(check, metric, without):
    asked = [{k: v for k, v in q.items() if k != without} for q in questions("a", "b", "c")]
    task = TASK + f'metric = "{metric}"\n'
    (found,) = errors(check(task=task, asked=asked))
    assert found.startswith(f"task.toml:3: metric {metric} applies to no question (")
    asked[0] |= {"evidence": ["e-a"], "choices": ["x", "y"]}
    assert check(task=task, asked=asked).ok


def test_questions_set_apart_do_not_make_a_metric_apply(check):
    asked = questions("a", "b", "c")
    for number, question in enumerate(asked):
        if number % 2:
            question["category"] = "apart"
        else:
            del question["evidence"]
    task = TASK + 'metric = "mrr"\nset_apart = ["apart"]\nset_apart_metric = "exact"\n'
    assert "metric mrr applies to no question" in errors(check(task=task, asked=asked))[0]
