"""The settings as a typed model. Unknown keys are refused; nothing is read here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator

LLM_ROLES = (
    "task",
    "reflector",
    "judge",
    "judge2",
    "toolkit",
    "extract",
    "diagnose",
    "rewrite",
    "attribute",
)
OFFLINE = "offline"
MODEL_FORMS = (
    OFFLINE,
    "local/PATH-or-NAME",
    "openai/NAME",
    "command:PROGRAM ARGS",
    "files:DIR",
    "replay:FILE",
)
_PREFIXES = ("local/", "openai/", "command:", "files:", "replay:")
# Values are left out of pydantic's own messages: one of them may be a key.
_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def checked_url(url: str) -> str:
    """The address of a server, which may not carry a secret: addresses are shown in reports.

    Raises:
        ValueError: it is no http(s) address, or holds a user, a password or a query.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http:// or https:// address")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("must hold no user, password or query; give the secret as api_key")
    return url


class LLMSettings(BaseModel):
    """One `[llm.ROLE]` section: a language model and how to call it.

    `model` is one of MODEL_FORMS. A field that another kind of model uses is ignored.

    All kinds: `temperature` takes the place of what a call asks for, `max_tokens` caps it, `seed`
    is added to it; `timeout` in seconds for one call (None: 120 for `openai/`, 600 for
    `command:`, no limit otherwise); `concurrency` calls at once (None: 64 for `openai/`, 1
    otherwise); `price_in` and `price_out` in money for a million tokens (None: unknown);
    `record`: a file that every reply is appended to, for `replay:`.

    `openai/`: `base_url` (None: OPENAI_BASE_URL, else OpenAI), `api_key`, else the variable named
    by `api_key_env`; `retries` of a failed call. `local/`: `context` in tokens (None: 8192, or
    what the model was trained for if that is less), `threads` (None: all cores but one).
    """

    model_config = _STRICT

    model: str = OFFLINE
    base_url: Annotated[str, AfterValidator(checked_url)] | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    api_key_env: str = Field(default="OPENAI_API_KEY", min_length=1)
    timeout: float | None = Field(default=None, gt=0)
    retries: int = Field(default=3, ge=0)
    concurrency: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    context: int | None = Field(default=None, ge=64)
    threads: int | None = Field(default=None, ge=1)
    record: Path | None = None

    @property
    def offline(self) -> bool:
        """Whether there is no language model."""
        return self.model == OFFLINE

    @field_validator("model")
    @classmethod
    def _known_form(cls, model: str) -> str:
        if model == OFFLINE:
            return model
        if not any(model.startswith(p) and model[len(p) :].strip() for p in _PREFIXES):
            raise ValueError(f"must be one of: {', '.join(MODEL_FORMS)}")
        return model


class LLMRoles(BaseModel):
    """The `[llm.…]` sections. The last four fall back to task, reflector, task and judge; `judge2`
    is a second opinion on everything the judge judges, for their agreement.

    `cache`: the SQLite file that keeps replies, or `off`; None: `llm.sqlite` in the user's cache.
    """

    model_config = _STRICT

    cache: str | None = Field(default=None, min_length=1)
    task: LLMSettings = LLMSettings()
    reflector: LLMSettings = LLMSettings()
    judge: LLMSettings = LLMSettings()
    judge2: LLMSettings | None = None
    toolkit: LLMSettings = LLMSettings()
    extract: LLMSettings | None = None
    diagnose: LLMSettings | None = None
    rewrite: LLMSettings | None = None
    attribute: LLMSettings | None = None


SandboxLevel = Literal["full", "bubblewrap", "rlimits"]
VectorStore = Literal["numpy", "chromadb"]


class SandboxSettings(BaseModel):
    """The `[sandbox]` section: how memory programs run.

    `level`: the isolation below which nothing is run. `chroma`: what `toolkit.chroma` is, the exact
    collections of memgene or chromadb itself (the extra `memgene[chroma]`).
    """

    model_config = _STRICT

    level: SandboxLevel = "full"
    chroma: VectorStore = "numpy"


class Settings(BaseModel):
    """Everything that can be set outside of code.

    `embedder`, `agent`: names, None = the built-in choice (and for `embedder`: the genome's, where
    one is used). `data`: folder that holds the benchmarks. `db`: the bank the memory verbs open.
    """

    model_config = _STRICT

    embedder: str | None = Field(default=None, min_length=1)
    agent: Literal["offline", "llm", "llm+dates"] = "offline"
    data: Path | None = None
    db: str | None = Field(default=None, min_length=1)
    llm: LLMRoles = LLMRoles()
    sandbox: SandboxSettings = SandboxSettings()
