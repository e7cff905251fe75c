"""Patches that models write, applied without guessing."""
