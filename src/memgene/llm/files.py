"""A model behind a folder: prompts are written as files, replies are awaited as files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from memgene.core.errors import ModelError, StoredConfigError
from memgene.llm.counting import estimated_tokens
from memgene.llm.prompt_files import REPLY_ENDINGS, PromptFolder
from memgene.llm.protocol import Reply, Request
from memgene.llm.rendering import rendered
from memgene.llm.request_key import request_key
from memgene.llm.sendable import check_sendable

_POLL = 0.2


class FilesLLM:
    """Whoever reads DIR/0001.prompt.md and writes DIR/0001.reply.md: a person, another machine.

    Beside the prompt stands 0001.request.json with what else was asked (schema, temperature, …).
    The reply may end in .md, .txt or .json. It is taken when it is not blank and has not changed
    for `settle` seconds; whoever writes slowly writes under another name and renames.

    The same request has the same number, also in another process or after a restart, and is not
    asked twice: a reply that is there is used. Different requests never share a number.

    Args:
        folder: DIR, made if need be.
        timeout: seconds to wait for one reply; None: for ever.
        concurrency: prompts that wait at once.
        waiting: told in a line which file is waited for; by default that goes to stderr.
        settle: seconds that a reply must have rested.

    Raises:
        StoredConfigError: DIR is a file.
    """

    def __init__(
        self,
        folder: str,
        *,
        timeout: float | None = None,
        concurrency: int = 1,
        waiting: Callable[[str], None] | None = None,
        settle: float = 1.0,
    ) -> None:
        self._folder = folder
        if Path(folder).exists() and not Path(folder).is_dir():
            raise StoredConfigError(f"{self.name}: {folder} is not a folder")
        self._prompts = PromptFolder(Path(folder))
        self._timeout = timeout
        self._concurrency = concurrency
        self._slots = threading.BoundedSemaphore(concurrency)
        self._waiting = waiting or _say
        self._settle = settle

    @property
    def name(self) -> str:
        """`files:` and the folder."""
        return f"files:{self._folder}"

    @property
    def identity(self) -> str:
        """`files:` and the folder's full path."""
        return f"files:{Path(self._folder).resolve()}"

    @property
    def constrains(self) -> bool:
        """False: nobody is held to the schema."""
        return False

    @property
    def concurrency(self) -> int:
        """Prompts that wait at once."""
        return self._concurrency

    def complete(self, request: Request) -> Reply:
        """Write the prompt, wait for the reply; see `LLM.complete`."""
        check_sendable(request, self.name)
        prompt = rendered(request)
        with self._slots:
            start = time.perf_counter()
            try:
                number = self._prompts.number(request_key("", request), request, prompt)
                text = self._awaited(number)
            except OSError as error:
                raise ModelError(f"{self.name}: {error}") from error
        return Reply(
            text,
            tokens_in=estimated_tokens(prompt),
            tokens_out=estimated_tokens(text),
            seconds=time.perf_counter() - start,
        )

    def close(self) -> None:
        """Nothing is held between calls."""

    def _awaited(self, number: int) -> str:
        """The reply's text, once it is there and has rested."""
        start = time.monotonic()
        told = False
        while True:
            text = self._rested(number)
            if text is not None:
                return text
            awaited = self._prompts.reply_path(number, REPLY_ENDINGS[0])
            if not told:
                self._waiting(f"files: waiting for {awaited}")
                told = True
            if self._timeout is not None and time.monotonic() - start > self._timeout:
                raise ModelError(
                    f"{self.name}: no {awaited.name} within {self._timeout:g} s; its prompt stays, "
                    "and a reply that is written later is used by the next run"
                )
            time.sleep(min(_POLL, self._settle or _POLL))

    def _rested(self, number: int) -> str | None:
        """The reply, if there is one that is not blank and is not being written."""
        path = self._prompts.reply(number)
        if path is None:
            return None
        try:
            before = path.stat()
            # Its age tells of replies from long ago at once; a clock that is ahead costs time only.
            if time.time() - before.st_mtime < self._settle:
                time.sleep(self._settle)
            text = path.read_bytes()
            after = path.stat()
        except FileNotFoundError:  # an editor that saves by removing and renaming
            return None
        if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
            return None
        try:
            return text.decode().strip() or None
        except UnicodeDecodeError as error:
            raise ModelError(f"{self.name}: {path.name} is not UTF-8 ({error.reason})") from error


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
