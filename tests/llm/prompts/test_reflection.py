"""The wording of the reflection prompts, as it is sent: beside this file, in reflection.md."""

from __future__ import annotations

from pathlib import Path

from memgene.llm.prompts import reflection as words
from memgene.llm.prompts.prompt import Prompt

PAGE = Path(__file__).with_name("reflection.md")
PIECES = (
    "LLM_AGENT",
    "OFFLINE_AGENT",
    "HAS_LLM",
    "NO_LLM",
    "BANK",
    "BOTH_SIDES",
    "CODE_SIDE",
    "INSTRUCTIONS_ONLY",
    "CODE_ONLY",
    "TASK",
    "TASK_WITHOUT_CASES",
)


def page() -> str:
    """Both prompts with each slot shown by its name, then what slots are filled with."""
    parts = []
    for prompt in (words.REFLECTION, words.REPAIR, words.UNUSABLE):
        filled = prompt.render(**{slot: f"<{slot}>" for slot in prompt.slots})
        parts += [f"<!-- {prompt.name}: {m.role} -->\n{m.content}" for m in filled]
    parts += [f"<!-- {name} -->\n{getattr(words, name).strip()}" for name in PIECES]
    sections = [v for v in vars(words).values() if isinstance(v, words.Section)]
    parts += [f"<!-- section -->\n{s.title}\n{s.about}".strip() for s in sections]
    return "\n\n".join(parts) + "\n"


def test_the_prompts_are_these() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")


def test_nothing_in_the_words_is_left_out_of_the_page() -> None:
    known = {*PIECES, "REFLECTION", "REPAIR", "UNUSABLE"}
    public = {n: v for n, v in vars(words).items() if n.isupper() and not n.startswith("_")}
    kinds = {n for n, v in public.items() if isinstance(v, str | Prompt)}
    assert kinds == known
