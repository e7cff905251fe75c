"""Retrieval stages that are code: written by an evolution, run in a sandbox."""
