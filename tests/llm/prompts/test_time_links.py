"""The wording of the check of time edges, as it is sent."""

from __future__ import annotations

from memgene.llm.prompts.time_links import TIME_LINKS


def test_the_prompt_is_this() -> None:
    system, user = TIME_LINKS.render(earlier="EARLIER", later="LATER")
    assert (system.role, user.role) == ("system", "user")
    assert system.content == (
        "You look at two notes that were made one right after the other, and decide whether they "
        "belong together. You add nothing of your own."
    )
    assert (
        user.content
        == """\
Earlier: EARLIER

Later: LATER

They belong together when the later note goes on with what the earlier one is about: it answers \
it, follows from it, or is the next step of the same matter.
They do not when the later note begins something else, even if both were made by the same person \
or at the same time."""
    )
