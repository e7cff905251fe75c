"""Programs that evolution starts from (M* §3), each a file beside this one.

`vector-search`, `llm-summarizer` and `experience-learner` are the published three, one change made:
text without paragraphs is cut at its lines. `vector-search-published` is without that change.
`hybrid` and `bank` are ours; `empty` remembers nothing (linear search starts there).
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
