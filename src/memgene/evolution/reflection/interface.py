"""The interface specification as it holds in one run."""

from __future__ import annotations

from memgene.evolution.reflection.material import Scope, ToolkitNotes
from memgene.llm.prompts import reflection as words
from memgene.programs.allowed import ALLOWED_IMPORTS

SCOPE_RULES = {
    Scope.BOTH: words.BOTH_SIDES,
    Scope.INSTRUCTIONS: words.INSTRUCTIONS_ONLY,
    Scope.CODE: words.CODE_ONLY,
}


def scope_rule(scope: Scope, toolkit: ToolkitNotes) -> str:
    """Which sides to work on."""
    if scope is Scope.BOTH and toolkit.agent == "offline":
        return words.CODE_SIDE
    return SCOPE_RULES[scope]


def interface_slots(toolkit: ToolkitNotes) -> dict[str, str]:
    """Values of the slots that REFLECTION and REPAIR share."""
    limits = toolkit.limits
    calls = "one call" if limits.llm_calls == 1 else f"{limits.llm_calls} calls"
    usable = toolkit.llm and limits.llm_calls > 0
    return {
        "agent": words.LLM_AGENT if toolkit.agent == "llm" else words.OFFLINE_AGENT,
        "llm": words.HAS_LLM.replace("$calls", calls) if usable else words.NO_LLM,
        "bank": words.BANK if toolkit.bank else "",
        "read_characters": str(limits.read_characters),
        "seconds": f"{limits.call_seconds:g}",
        "imports": ", ".join(ALLOWED_IMPORTS),
    }
