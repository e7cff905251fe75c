"""The model that improves programs: asked for a change, told when it cannot be applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from memgene.core import InputError, MemgeneError
from memgene.evolution.reflection.material import Material, Scope, ToolkitNotes
from memgene.evolution.reflection.prompt import MOST_TOKENS, reflection_messages, repair_messages
from memgene.evolution.reflection.scope import strayed
from memgene.evolution.reflection.sections import cleaned, shortened
from memgene.llm.prompts.reflection import UNUSABLE
from memgene.llm.protocol import LLM, ChatMessage, Finish, Reply, Request
from memgene.programs.patching import Patched, PatchError, apply_reply

_REPLY_TOKENS = 16_384  # models that think aloud spend most of it before the patch
_SHOWN, _CUT_SHOWN = 12_000, 1_500  # characters of an unusable reply that is shown again
_FAULT = 3_000
_WARMER = 0.7  # a reply that came twice would come a third time


@dataclass(frozen=True, slots=True)
class Proposal:
    """A changed program. `title` and `body` are its commit message, `form` says how the change was
    written, `exchange` holds all that was said, `tokens` those of all prompts and replies,
    `attempts` the number of replies (≥ 1)."""

    source: str
    title: str
    body: str
    form: str
    exchange: tuple[ChatMessage, ...]
    tokens: int
    attempts: int


class NoProposalError(MemgeneError):
    """No reply held a change that could be applied. `reason` is what was wrong with the last one;
    the other attributes are those of a Proposal."""

    def __init__(
        self, reason: str, exchange: tuple[ChatMessage, ...], tokens: int, attempts: int
    ) -> None:
        super().__init__(f"no usable change in {attempts} replies: {reason}")
        self.reason = reason
        self.exchange = exchange
        self.tokens = tokens
        self.attempts = attempts


class Reflector:
    """Asks a model for changes of programs (M* §6). Thread-safe if the model is.

    Args:
        llm: the model of role reflector.
        max_prompt_tokens: bound of the first prompt (estimated); a correction adds to it the reply
            that it corrects (at most 12,000 characters) and what is wrong with it.
        attempts: replies asked for until one can be applied.
        temperature: of every request, unless the role's settings say otherwise. Above 0, so that
            proposals made side by side differ.
        reply_tokens: bound of a reply.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        max_prompt_tokens: int = MOST_TOKENS,
        attempts: int = 3,
        temperature: float = 0.7,
        reply_tokens: int = _REPLY_TOKENS,
    ) -> None:
        if attempts < 1:
            raise InputError(f"attempts must be at least 1, got {attempts}")
        self._llm = llm
        self._max_tokens = max_prompt_tokens
        self._attempts = attempts
        self._temperature = temperature
        self._reply_tokens = reply_tokens

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._llm.name

    def propose(self, material: Material, seed: int = 0) -> Proposal:
        """A changed program. Another seed asks anew, also where the cache knows the prompt.

        Raises:
            NoProposalError: no reply held a change that could be applied.
            PromptTooLongError: the program alone is too long for the prompt.
            ModelError: the model gave no reply at all.
        """
        messages = reflection_messages(material, self._max_tokens)
        return self._asked(
            messages,
            material.source,
            self._attempts,
            seed,
            lambda changed: strayed(material.source, changed, material.scope),
        )

    def repair(
        self,
        source: str,
        findings: str,
        tries_left: int,
        *,
        toolkit: ToolkitNotes | None = None,
        scope: Scope = Scope.BOTH,
        original: str | None = None,
        seed: int = 0,
    ) -> Proposal:
        """A program mended by what a gate or a run found wrong with it (M* §7), in at most
        `tries_left` replies; `Proposal.attempts` are those used. Not checked again here.

        Args:
            source: the broken program.
            findings: what is wrong, as text.
            toolkit: what the program may use.
            scope: which side may differ from `original`, the program it was made from.

        Raises: as `propose` does.
        """
        messages = repair_messages(
            source,
            findings,
            toolkit=toolkit or ToolkitNotes(),
            scope=scope,
            max_tokens=self._max_tokens,
        )
        base = source if original is None else original
        return self._asked(
            messages, source, tries_left, seed, lambda changed: strayed(base, changed, scope)
        )

    def _asked(
        self,
        first: tuple[ChatMessage, ...],
        source: str,
        attempts: int,
        seed: int,
        check: Callable[[str], str],
    ) -> Proposal:
        """Ask until a reply can be applied to `source` and passes `check`."""
        if attempts < 1:
            raise InputError(f"a change needs at least 1 attempt, got {attempts}")
        request = Request(
            first, temperature=self._temperature, max_tokens=self._reply_tokens, seed=seed
        )
        exchange, texts, tokens, fault = list(first), list[str](), 0, ""
        for attempt in range(1, attempts + 1):
            reply = self._llm.complete(request)
            tokens += reply.tokens_in + reply.tokens_out
            exchange.append(ChatMessage("assistant", reply.text))
            patched, fault = _applied(source, reply, check)
            if patched is not None:
                return Proposal(
                    patched.source,
                    patched.title,
                    patched.body,
                    patched.form,
                    tuple(exchange),
                    tokens,
                    attempt,
                )
            told = UNUSABLE.render(fault=shortened(fault, _FAULT))
            if attempt < attempts:
                exchange += told
            request = replace(request, messages=cleaned((*first, _again(reply), *told)))
            if reply.text in texts:
                request = replace(
                    request, seed=seed + attempt, temperature=max(self._temperature, _WARMER)
                )
            texts.append(reply.text)
        raise NoProposalError(fault, tuple(exchange), tokens, attempts)


def _applied(source: str, reply: Reply, check: Callable[[str], str]) -> tuple[Patched | None, str]:
    """The changed program, or what is wrong with the reply."""
    try:
        patched = apply_reply(source, reply.text, finish=reply.finish)
    except PatchError as error:
        return None, str(error)
    fault = check(patched.source)
    return (None, f"{fault}.") if fault else (patched, "")


def _again(reply: Reply) -> ChatMessage:
    """An unusable reply as it is shown to the one who gave it; no provider takes an empty one."""
    limit = _SHOWN if reply.finish is Finish.STOP else _CUT_SHOWN
    return ChatMessage(
        "assistant", shortened(reply.text, limit) if reply.text.strip() else "(empty)"
    )
