"""Finding the JSON in a reply; telling a whole document from one that was cut off."""

from __future__ import annotations

import pytest

from memgene.core import ReplyError
from memgene.llm.json_text import documents, load, preferred


def value_of(reply: str, opening: str = "{", *, repair: bool = True) -> tuple[object, bool]:
    return load(preferred(documents(reply), opening)[0], repair=repair)


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": 1}',
        '\n  {"a": 1}\n',
        'Sure! Here it is: {"a": 1} I hope it helps.',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```\nDone.',
        '````json\n{"a": 1}\n````',
        '```json {"a": 1} ```',
        '<think>is it {"a": 2}? no</think>\n{"a": 1}',
        '\ufeff{"a": 1}',
        'As [the note] says {see above}: {"a": 1}',
    ],
)
def test_a_document_is_found_in_fences_thoughts_and_prose(reply: str) -> None:
    assert value_of(reply) == ({"a": 1}, False)


def test_brackets_and_fences_inside_texts_do_not_count() -> None:
    assert value_of('{"a": "} ] ``` \\" {"}') == ({"a": '} ] ``` " {'}, False)
    assert value_of('```json\n{"a": "x\\n```\\ny"}\n```') == ({"a": "x\n```\ny"}, False)


def test_the_last_fenced_document_comes_before_all_others() -> None:
    reply = '{"a": 0}\n```json\n{"a": 1}\n```\nor rather\n```json\n{"a": 2}\n```\nnot {"a": 3}'
    assert [d.text for d in preferred(documents(reply), "{")] == ['{"a": 2}']


def test_without_fences_the_last_document_comes_first() -> None:
    found = preferred(documents('{"a": 1} then {"a": 2} and [3]'), "{")
    assert [d.text for d in found] == ['{"a": 2}', '{"a": 1}']


def test_only_outermost_documents_count() -> None:
    assert preferred(documents('[{"a": 1}]'), "{") == ()
    assert value_of('[{"a": 1}]', "[") == ([{"a": 1}], False)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ('{"a": 1', "its JSON is not closed"),
        ("{", "its JSON is not closed"),
        ("{nam", "its JSON is not closed"),
        ('{"a": {"b": 1}', "its JSON is not closed"),
        ('[{"a": 1}, {"a": 2}', "its JSON is not closed"),
        ('{"a": "x', "a text in its JSON is not closed"),
        ('{"a": "x\\"', "a text in its JSON is not closed"),
        ("{'a': 'it's", "a text in its JSON is not closed"),
        ('{"a": 1 /* so', "a comment in its JSON is not closed"),
        ('```json\n{"a": 1}', "a code fence is not closed"),
        ('```json\n{"a": 1}\n```\n```json\n', "a code fence is not closed"),
        ('````json\n{"a": 1}\n```', "a code fence is not closed"),
        ('{"a": 1}\n{"a": ', "its JSON is not closed"),
        ('<think>maybe {"a": 1}', "it ends before the thinking does"),
    ],
)
def test_a_reply_that_was_cut_off_is_refused(reply: str, fault: str) -> None:
    with pytest.raises(ReplyError, match=f"cut off: .*{fault}"):
        documents(reply)


def test_brackets_that_do_not_match_are_refused() -> None:
    with pytest.raises(ReplyError, match="do not match: unexpected '}'"):
        documents('{"a": [1, 2}')


def test_a_model_that_opens_brackets_for_ever_is_refused() -> None:
    with pytest.raises(ReplyError, match="deeper than 60"):
        documents("[" * 100_000)


@pytest.mark.parametrize(
    ("damaged", "value"),
    [
        ("{'a': 'x', 'b': 2}", {"a": "x", "b": 2}),
        ("{'a': 'it\\'s {'}", {"a": "it's {"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": 1, // the } first\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1 /* { */}', {"a": 1}),
        ('{a: "x", b: 2}', {"a": "x", "b": 2}),
        ("{name: Ann, n: 3}", {"name": "Ann", "n": 3}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ("{“a”: “x”}", {"a": "x"}),
        ('{"a": "he said "hi" there"}', {"a": 'he said "hi" there'}),
    ],
)
def test_a_closed_document_that_is_not_quite_json_is_repaired(damaged: str, value: object) -> None:
    assert value_of(damaged) == (value, True)
    with pytest.raises(ReplyError, match="not valid JSON"):
        value_of(damaged, repair=False)


@pytest.mark.parametrize(
    "gappy",
    [
        '{"a": }',
        '{"a": "x", "b": , "c": 1}',
        '{"a": ["x", ...]}',
        '{"a": ["x", "y", …],}',
    ],
)
def test_a_repair_that_would_have_to_invent_is_refused(gappy: str) -> None:
    with pytest.raises(ReplyError, match="leaves something out"):
        value_of(gappy)


def test_dots_inside_a_text_are_no_gap() -> None:
    assert value_of("{'a': 'and so on...', \"b\": \"x: , …\"}") == (
        {"a": "and so on...", "b": "x: , …"},
        True,
    )


def test_an_integer_too_long_to_convert_is_not_json() -> None:
    with pytest.raises(ReplyError, match="not valid JSON"):
        value_of('{"a": ' + "1" * 5000 + "}", repair=False)
