"""Agents by name, as the command line and settings give them."""

from __future__ import annotations

from memgene.agents.offline import OfflineAgent
from memgene.agents.protocol import Agent
from memgene.core import ConfigError

AGENTS = ("offline", "llm")


def make_agent(name: str) -> Agent:
    """Make the agent called `name`; raises ConfigError for a name that cannot be made."""
    if name == "offline":
        return OfflineAgent()
    if name == "llm":
        raise ConfigError(
            "agent 'llm' needs a configured language model ([llm.task] in memgene.toml) and is not "
            "available in this version; use agent 'offline'"
        )
    raise ConfigError(f"unknown agent {name!r}; agents are: {', '.join(AGENTS)}")
