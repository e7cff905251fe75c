"""Agents by name, as the command line and settings give them."""

from __future__ import annotations

from memgene.agents.offline import OfflineAgent
from memgene.agents.protocol import Agent
from memgene.core import ConfigError
from memgene.llm.roles import RoleModels

AGENTS = ("offline", "llm", "llm+dates")
_AT_ONCE = 64


def check_agent(name: str) -> None:
    """Raises ConfigError when there is no agent of that name."""
    if name not in AGENTS:
        raise ConfigError(f"unknown agent {name!r}; agents are: {', '.join(AGENTS)}")


def make_agent(name: str, models: RoleModels | None = None) -> Agent:
    """Make the agent called `name`: `offline`, `llm` (the model of role task), or `llm+dates`
    (the same, relative dates in the context resolved by rule first).

    Raises ConfigError for an unknown name, and when `llm` has no model.
    """
    check_agent(name)
    if name == "offline":
        return OfflineAgent()
    from memgene.agents.llm.agent import AgentSettings, LLMAgent

    llm = (models or RoleModels.of({})).need("task", f"agent '{name}'")
    return LLMAgent(llm, AgentSettings(resolve_dates=name == "llm+dates"))


def useful_workers(agent: Agent) -> int:
    """How many questions at once make sense: as many as the agent's model takes, at most 64; one
    for an agent that computes."""
    return min(_AT_ONCE, agent.concurrency)
