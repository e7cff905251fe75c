"""How a reader of plain text is told which JSON to reply with."""

from memgene.llm.prompts.prompt import Prompt

PLAIN_SCHEMA = Prompt(
    name="plain-schema",
    system="",
    user="""Reply with one JSON value that fits this JSON schema, and nothing else:

$schema""",
)
