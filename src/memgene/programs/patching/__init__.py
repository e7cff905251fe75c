"""Reads the change in a model's reply and applies it to a program."""

from memgene.programs.patching.patched import Form, Patched, PatchError, PatchFault
from memgene.programs.patching.reply import apply_reply

__all__ = ["Form", "PatchError", "PatchFault", "Patched", "apply_reply"]
