"""The agent that uses a language model (M* §4)."""
