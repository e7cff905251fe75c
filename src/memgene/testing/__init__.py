"""Public doubles for tests of agents, harnesses, tasks and language models. Tests only."""

from memgene.testing.agents import ScriptedAgent
from memgene.testing.harnesses import FailingHarness, ScriptedHarness, SpyHarness
from memgene.testing.llm import FaultyServer, ScriptedLLM
from memgene.testing.programs import program_text
from memgene.testing.tiny import tiny_task

__all__ = [
    "FailingHarness",
    "FaultyServer",
    "ScriptedAgent",
    "ScriptedHarness",
    "ScriptedLLM",
    "SpyHarness",
    "program_text",
    "tiny_task",
]
