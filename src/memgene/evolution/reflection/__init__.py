"""Reflection (M* §6): what a model is shown of a program, and what it proposes."""

from memgene.evolution.reflection.choosing import Chosen, choose_cases
from memgene.evolution.reflection.material import (
    LineageEntry,
    Material,
    Reference,
    Scope,
    ShownCase,
    ShownViolation,
    ShownWrite,
    ToolkitNotes,
)
from memgene.evolution.reflection.prompt import PromptTooLongError
from memgene.evolution.reflection.reflector import NoProposalError, Proposal, Reflector
from memgene.evolution.reflection.scope import strayed

__all__ = [
    "Chosen",
    "LineageEntry",
    "Material",
    "NoProposalError",
    "PromptTooLongError",
    "Proposal",
    "Reference",
    "Reflector",
    "Scope",
    "ShownCase",
    "ShownViolation",
    "ShownWrite",
    "ToolkitNotes",
    "choose_cases",
    "strayed",
]
