"""Memory programs for tests: one that works, and a way to write others that differ in a part."""

from __future__ import annotations

from textwrap import dedent, indent

_ITEM = 'summary: str = field(default="", metadata={"description": "what happened"})'
_QUERY = 'query_text: str = field(metadata={"description": "what to look for"})'
_INIT = "self.texts = []"
_WRITE = "self.texts.append(raw_text)"
_READ = """
    words = set(re.findall(r"\\w+", query.query_text.lower()))
    lines = [line for text in self.texts for line in text.splitlines()]
    shared = lambda line: len(words & set(re.findall(r"\\w+", line.lower())))
    best = sorted(lines, key=lambda line: -shared(line))[:5]
    return "\\n".join(line for line in best if shared(line))
"""


def program_text(
    *,
    head: str = "import re\nfrom dataclasses import dataclass, field",
    item: str = _ITEM,
    query: str = _QUERY,
    init: str = _INIT,
    write: str = _WRITE,
    read: str = _READ,
    write_takes: str = "self, item, raw_text",
    always_on: str = "",
) -> str:
    """Source of a program whose parts are as given: lines of fields and of method bodies.

    As it stands, it keeps texts and reads the five lines that share most words with the query.
    """
    return "\n".join(
        [
            dedent(head).strip(),
            'INSTRUCTION_KNOWLEDGE_ITEM = "Say what happened."',
            'INSTRUCTION_QUERY = "Ask for what the question is about."',
            'INSTRUCTION_RESPONSE = "Answer in a few words."',
            f"ALWAYS_ON_KNOWLEDGE = {always_on!r}",
            "@dataclass\nclass KnowledgeItem:",
            '    """What an episode told."""',
            _body(item, 4),
            "@dataclass\nclass Query:",
            _body(query, 4),
            "class KnowledgeBase:",
            "    def __init__(self, toolkit):",
            "        self.toolkit = toolkit",
            _body(init, 8),
            f"    def write({write_takes}):",
            _body(write, 8),
            "    def read(self, query):",
            _body(read, 8),
            "",
        ]
    )


def _body(lines: str, depth: int) -> str:
    return indent(dedent(lines).strip() or "pass", " " * depth)
