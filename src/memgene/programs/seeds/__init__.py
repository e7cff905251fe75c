"""Programs that evolution starts from (M* §3), each a file beside this one.

`vector-search`, `llm-summarizer` and `experience-learner` are the published three, but that
`vector-search` cuts a text without paragraphs at its lines; `vector-search-published` does not.
`hybrid` and `bank` are ours; `empty` remembers nothing (a linear search starts there).
"""

from __future__ import annotations

from memgene.programs.library import program_names, read_program
from memgene.programs.program import Program


def seed_names() -> tuple[str, ...]:
    """Names of all seeds, sorted."""
    return program_names(__name__)


def seed(name: str) -> Program:
    """A seed by name. Raises ConfigError when there is none of this name."""
    return read_program(__name__, name)
