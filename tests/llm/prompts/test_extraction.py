"""What extraction says to a model, word for word."""

from __future__ import annotations

from memgene.llm.prompts.extraction import COVERAGE, EXTRACTION, EXTRACTION_AGAIN, KNOWN


def test_wording() -> None:
    """A change of words is a change of results: take over the digest on purpose."""
    assert {p.name: p.digest for p in (EXTRACTION, EXTRACTION_AGAIN, COVERAGE)} == {
        "extraction": "84432e228a08",
        "extraction-again": "fedf7e7eea4f",
        "coverage": "178313feea61",
    }


def test_the_first_pass_shows_turns_and_known_facts() -> None:
    system, user = EXTRACTION.render(known=f"{KNOWN}\n- a", turns="[1] Anna: b")
    assert system.role == "system"
    assert user.content == (
        "Already written down, do not repeat:\n- a\n\n[1] Anna: b\n\nWrite the facts as JSON."
    )
    assert EXTRACTION.render(known="", turns="[1] b")[-1].content.startswith("[1] b\n")


def test_both_passes_show_an_example_and_ask_for_json_only() -> None:
    for prompt in (EXTRACTION, COVERAGE):
        assert (
            "Reply with JSON only, as in this example:\nDate: Friday, 3 March 2017\n"
            in prompt.system
        )
        assert prompt.system.endswith('"topic": "family"}]}')


def test_a_repeat_says_what_was_wrong() -> None:
    (message,) = EXTRACTION_AGAIN.render(problem="it was empty")
    assert message.role == "user"
    assert message.content.startswith("That reply cannot be used: it was empty. ")
