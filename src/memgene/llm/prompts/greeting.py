"""The least one can ask: whether anybody is there."""

from memgene.llm.prompts.prompt import Prompt

GREETING = Prompt(name="greeting", system="", user="Say hello.")
