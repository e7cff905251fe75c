"""Public doubles for tests of agents, harnesses and tasks. Not used by the product itself."""

from memgene.testing.agents import ScriptedAgent
from memgene.testing.harnesses import FailingHarness, ScriptedHarness, SpyHarness
from memgene.testing.tiny import tiny_task

__all__ = ["FailingHarness", "ScriptedAgent", "ScriptedHarness", "SpyHarness", "tiny_task"]
