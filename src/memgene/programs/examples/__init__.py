"""Two programs shaped like published results of evolution (M* §11), each a file beside this one.

`action-cache` remembers how tasks in a household were done; `multi-signal` remembers dialogues.
"""

from __future__ import annotations

from memgene.programs.library import program_names, read_program
from memgene.programs.program import Program


def example_names() -> tuple[str, ...]:
    """Names of all examples, sorted."""
    return program_names(__name__)


def example(name: str) -> Program:
    """An example by name. Raises ConfigError when there is none of this name."""
    return read_program(__name__, name)
