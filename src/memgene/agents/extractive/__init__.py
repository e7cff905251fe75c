"""Answers cut out of a context by rules and a small linear model; no language model."""
