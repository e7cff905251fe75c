"""The settings as a typed model. Unknown keys are refused; nothing is read here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

LLM_ROLES = (
    "task",
    "reflector",
    "judge",
    "toolkit",
    "extract",
    "diagnose",
    "rewrite",
    "attribute",
)


class LLMSettings(BaseModel):
    """One `[llm.ROLE]` section. `offline` (no language model) is the only model so far."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Literal["offline"] = "offline"


class LLMRoles(BaseModel):
    """The `[llm.…]` sections. The last four fall back to task, reflector, task and judge."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: LLMSettings = LLMSettings()
    reflector: LLMSettings = LLMSettings()
    judge: LLMSettings = LLMSettings()
    toolkit: LLMSettings = LLMSettings()
    extract: LLMSettings | None = None
    diagnose: LLMSettings | None = None
    rewrite: LLMSettings | None = None
    attribute: LLMSettings | None = None


class Settings(BaseModel):
    """Everything that can be set outside of code.

    `embedder`, `agent`: names, None = the built-in choice (and for `embedder`: the genome's, where
    one is used). `data`: folder that holds the benchmarks. `db`: the bank the memory verbs open.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str | None = Field(default=None, min_length=1)
    agent: Literal["offline", "llm"] = "offline"
    data: Path | None = None
    db: str | None = Field(default=None, min_length=1)
    llm: LLMRoles = LLMRoles()
