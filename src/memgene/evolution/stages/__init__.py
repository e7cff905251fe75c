"""Stages of the retrieval that an evolution writes: what they must pass before they are tried."""
