"""Numbered prompt files in a folder that several processes may share."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memgene.core.errors import ModelError
from memgene.llm.protocol import Request

REPLY_ENDINGS = ("md", "txt", "json")
_FORMAT = 1
_REQUEST = ".request.json"


class PromptFolder:
    """Which number each request has. NNNN.request.json is the claim on a number: it appears whole
    or not at all, and only once. Thread-safe and process-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def number(self, key: str, request: Request, prompt: str) -> int:
        """The number of the request with this key; a new one is claimed and its prompt written.

        Raises:
            ModelError: a request file in the folder cannot be read.
            OSError: the folder cannot be made or written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._lock:
            while key not in self._numbers:
                free = self._scan()
                if key not in self._numbers and self._claim(free, key, request):
                    self._numbers[key] = free
            number = self._numbers[key]
        path = self._folder / f"{number:04d}.prompt.md"
        if not path.exists():  # new, or its writer was stopped before it came to this
            with _written(self._folder, prompt) as whole:
                os.replace(whole, path)
        return number

    def reply_path(self, number: int, ending: str) -> Path:
        """Where the reply of this number stands if it has this ending."""
        return self._folder / f"{number:04d}.reply.{ending}"

    def reply(self, number: int) -> Path | None:
        """The reply's file, if it is there."""
        paths = (self.reply_path(number, ending) for ending in REPLY_ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def _scan(self) -> int:
        """Learn the numbers that are taken; returns the first that is free."""
        known = set(self._numbers.values())
        highest = max(known, default=0)
        for path in sorted(self._folder.glob(f"*{_REQUEST}")):
            digits = path.name.removesuffix(_REQUEST)
            if not digits.isdigit():
                continue
            number = int(digits)
            highest = max(highest, number)
            if number not in known:
                self._numbers.setdefault(_key_in(path), number)
        return highest + 1

    def _claim(self, number: int, key: str, request: Request) -> bool:
        """Take a number, unless somebody was faster."""
        text = json.dumps(
            {
                "format": _FORMAT,
                "key": key,
                "temperature": request.temperature,
                "max_tokens": request.max_tokens,
                "seed": request.seed,
                "stop": list(request.stop),
                "schema": request.schema,
            },
            ensure_ascii=False,
            indent=2,
        )
        with _written(self._folder, text + "\n") as whole:
            try:
                os.link(whole, self._folder / f"{number:04d}{_REQUEST}")
            except FileExistsError:
                return False
        return True


def _key_in(path: Path) -> str:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] == _FORMAT:
            return str(found["key"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is damaged ({error}); move it and its prompt away") from error
    raise ModelError(f"{path} has format {found['format']}, this memgene reads {_FORMAT}")


@contextmanager
def _written(folder: Path, text: str) -> Iterator[Path]:
    """A hidden file that holds the whole text, gone afterwards unless it was renamed."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".writing-")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        path.chmod(0o644)
        yield path
    finally:
        path.unlink(missing_ok=True)
