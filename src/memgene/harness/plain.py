"""What memories have in common that take episodes as they are."""

from __future__ import annotations

from memgene.core import Instructions
from memgene.harness.protocol import NO_ITEM, QUERY_TEXT


class PlainHarness:
    """No extraction, one text as query, no words for the agent's prompts."""

    instructions = Instructions()
    item_schema = NO_ITEM
    query_schema = QUERY_TEXT
    thread_safe = False
