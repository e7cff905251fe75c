"""What a memory program may import (M* §2): one list for gates, guest and prompts."""

from __future__ import annotations

PUBLISHED_IMPORTS: tuple[str, ...] = (
    "json",
    "re",
    "math",
    "hashlib",
    "collections",
    "dataclasses",
    "typing",
    "datetime",
    "textwrap",
    "sqlite3",
    "chromadb",
)
"""Those of the paper."""

ALLOWED_IMPORTS: tuple[str, ...] = (
    *PUBLISHED_IMPORTS,
    "heapq",
    "bisect",
    "itertools",
    "functools",
    "statistics",
    "string",
    "unicodedata",
    "difflib",
    "operator",
    "enum",
    "random",
    "numpy",
)
"""Those of the paper, and more that are pure and useful. `chromadb` is the toolkit's own exact
collection, `random` is seeded."""
