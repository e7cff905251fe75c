"""Language models: one protocol, several providers, structured output, cache, ledger, prompts."""

from memgene.llm.protocol import LLM, ChatMessage, Finish, Reply, Request

__all__ = ["LLM", "ChatMessage", "Finish", "Reply", "Request"]
