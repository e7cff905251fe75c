"""Language models by name, as settings give them."""

from __future__ import annotations

from collections.abc import Callable

from memgene.core.errors import ConfigError
from memgene.llm.protocol import LLM
from memgene.settings.model import LLMSettings

Waiting = Callable[[str], None]


def load_llm(settings: LLMSettings, waiting: Waiting | None = None) -> LLM:
    """The language model of one `[llm.ROLE]` section, ready to call. No call is made.

    `waiting` is told in a line what a model of kind `files:` waits for (default: stderr).

    Raises:
        ConfigError: the section says `offline`, or can never work as it stands.
        MissingDependencyError: the model's extra is not installed.
    """
    model = _provider(settings, waiting)
    if settings.record is None:
        return model
    from memgene.llm.recorder import Recorder

    return Recorder(model, settings.record)


def _provider(settings: LLMSettings, waiting: Waiting | None) -> LLM:
    model = settings.model
    if settings.offline:
        raise ConfigError("the model is `offline`: there is no language model to load")
    if model.startswith("openai/"):
        return _openai(settings)
    if model.startswith("local/"):
        return _local(settings)
    if model.startswith("command:"):
        return _command(settings)
    if model.startswith("files:"):
        return _files(settings, waiting)
    from memgene.llm.replay import ReplayLLM

    return ReplayLLM(model.removeprefix("replay:"))


def _openai(settings: LLMSettings) -> LLM:
    from memgene.llm.openai import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT, OpenAILLM
    from memgene.llm.retries import Backoff

    return OpenAILLM(
        settings.model.removeprefix("openai/"),
        base_url=settings.base_url,
        api_key=settings.api_key,
        api_key_env=settings.api_key_env,
        timeout=settings.timeout or DEFAULT_TIMEOUT,
        concurrency=settings.concurrency or DEFAULT_CONCURRENCY,
        backoff=Backoff(settings.retries, seed=settings.seed or 0),
    )


def _local(settings: LLMSettings) -> LLM:
    from memgene.llm.llamacpp import DEFAULT_CONTEXT, LlamaCppLLM

    return LlamaCppLLM(
        settings.model.removeprefix("local/"),
        context=settings.context or DEFAULT_CONTEXT,
        threads=settings.threads,
        timeout=settings.timeout,
    )


def _command(settings: LLMSettings) -> LLM:
    from memgene.llm.command import DEFAULT_TIMEOUT, CommandLLM

    return CommandLLM(
        settings.model.removeprefix("command:"),
        timeout=settings.timeout or DEFAULT_TIMEOUT,
        concurrency=settings.concurrency or 1,
    )


def _files(settings: LLMSettings, waiting: Waiting | None) -> LLM:
    from memgene.llm.files import FilesLLM

    return FilesLLM(
        settings.model.removeprefix("files:"),
        timeout=settings.timeout,
        concurrency=settings.concurrency or 1,
        waiting=waiting,
    )
