"""Any program as a language model: prompt on stdin, reply on stdout."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress

from memgene.core.errors import ModelError, StoredConfigError
from memgene.llm.counting import estimated_tokens
from memgene.llm.protocol import Reply, Request
from memgene.llm.rendering import rendered
from memgene.llm.sendable import check_sendable

DEFAULT_TIMEOUT = 600.0
_TAIL = 500
_GRACE = 5.0


class CommandLLM:
    """A coding agent, a script: anything that reads a prompt and prints a reply.

    A call is made once: a failed one may have had effects, and is not repeated. Temperature, seed
    and the limit of tokens are not passed on. The command line is shown in reports: pass secrets
    by the environment.

    Args:
        command: program and arguments as in a shell, without a shell's expansions.
        timeout: seconds until the program and all it started are killed.
        concurrency: programs at once; more calls wait.

    Raises:
        StoredConfigError: the command cannot be split, or its program is not found.
    """

    def __init__(
        self, command: str, *, timeout: float = DEFAULT_TIMEOUT, concurrency: int = 1
    ) -> None:
        self._command = command
        self._timeout = timeout
        self._concurrency = concurrency
        self._slots = threading.BoundedSemaphore(concurrency)
        self._argv = self._split()

    @property
    def name(self) -> str:
        """`command:` and the command line."""
        return f"command:{self._command}"

    @property
    def identity(self) -> str:
        """The same as its name: nobody knows what decides a program's replies."""
        return self.name

    @property
    def constrains(self) -> bool:
        """False: a program is told of the schema, not held to it."""
        return False

    @property
    def concurrency(self) -> int:
        """Programs at once."""
        return self._concurrency

    def complete(self, request: Request) -> Reply:
        """Run the program once; see `LLM.complete`."""
        check_sendable(request, self.name)
        prompt = rendered(request)
        with self._slots:
            start = time.perf_counter()
            text = self._run(prompt)
            seconds = time.perf_counter() - start
        return Reply(
            text,
            tokens_in=estimated_tokens(prompt),
            tokens_out=estimated_tokens(text),
            seconds=seconds,
        )

    def close(self) -> None:
        """Nothing is held between calls."""

    def _split(self) -> list[str]:
        try:
            argv = shlex.split(self._command)
        except ValueError as error:
            raise StoredConfigError(f"{self.name}: {error}") from error
        if not argv:
            raise StoredConfigError(f"{self.name}: no program is named")
        if shutil.which(argv[0]) is None:
            raise StoredConfigError(
                f"{self.name}: the program {argv[0]!r} is not found or cannot be executed"
            )
        return argv

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(f"{self.name}: cannot be started: {error}") from error

    def _run(self, prompt: str) -> str:
        process = self._started()
        try:
            out, err = process.communicate(prompt.encode(), timeout=self._timeout)
        except BaseException as error:
            _kill(process)
            if isinstance(error, subprocess.TimeoutExpired):
                limit = f"{self._timeout:g} s"
                raise ModelError(f"{self.name}: no reply within {limit}, killed") from None
            raise
        if process.returncode != 0:
            raise ModelError(f"{self.name}: exit code {process.returncode}{_tail(err)}")
        try:
            text = out.decode()
        except UnicodeDecodeError as error:
            raise ModelError(f"{self.name}: the reply is not UTF-8 ({error.reason})") from error
        if not text.strip():
            raise ModelError(f"{self.name}: printed nothing{_tail(err)}")
        return text.strip()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program's process group, its children too, and let go of its pipes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(_GRACE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _tail(err: bytes) -> str:
    said = err.decode("utf-8", "replace").strip()[-_TAIL:]
    return f"; it said: {said}" if said else ""
