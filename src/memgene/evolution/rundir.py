"""The run folder: what was asked, what happened, every candidate, and the best genome.

run.toml        settings, package versions, git revision, data fingerprints, and `isolation`, the
                sandbox level at which programs ran, where any did
journal.jsonl   every event in order
candidates/<id>/  retrieval.toml, patch.diff (to the parent), message.md, cases.jsonl, usage.json,
                and diagnosis.md, what a model was asked and said when its round was diagnosed
                (a program search: program.py, reflection.md, gate.jsonl and what was seen beside
                the cases, SPLIT.json)
final/<row>/    retrieval.toml, cases.jsonl, usage.json of the rows of the final report
best/           the promoted genome bundle
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import tomli_w

from memgene.core import Clock, NotFoundError, RunError, content_hash
from memgene.evaluation.case import Case
from memgene.evaluation.records import read_cases, update_cases
from memgene.evolution.events import Resumed
from memgene.evolution.files import write_folder, write_whole
from memgene.evolution.journal import Journal, sync_folder
from memgene.evolution.lock import LOCK_NAME, RunLock
from memgene.evolution.provenance import git_revision, versions
from memgene.genome.parts import config_files, read_config
from memgene.retrieval.config import RetrievalConfig

FORMAT = 1
RUN_FILE = "run.toml"
JOURNAL_FILE = "journal.jsonl"
BEST = "best"
CASES = "cases.jsonl"

UsageByRole = Mapping[str, Mapping[str, float]]


class Bundle(Protocol):
    """A genome that can be written as a folder."""

    def save(self, path: Path) -> object: ...


class RunFolder:
    """One run on disk, locked for this process. Use as a context manager."""

    def __init__(self, path: Path, journal: Journal, lock: RunLock) -> None:
        self.path = path
        self.journal = journal
        self._lock = lock

    @classmethod
    def open(
        cls,
        path: Path | str,
        settings: Mapping[str, Any],
        data: Mapping[str, str],
        *,
        resume: bool = False,
        isolation: str | None = None,
        clock: Clock | None = None,
    ) -> RunFolder:
        """Start a run in an empty or absent folder, or take up the one that is there.

        `settings` are plain values (None = not given), `data` fingerprints by name, `isolation`
        the sandbox level at which programs run (None = none do). Raises
        RunError when the folder holds something and `resume` is not asked, when there is nothing
        to resume, when it cannot be written to, when another process uses it, or when settings,
        data or isolation differ from the run's. A folder that is refused is left as it was.
        """
        folder = Path(path)
        asked: dict[str, Any] = {"settings": _given(settings), "data": dict(data)}
        if isolation is not None:
            asked["isolation"] = isolation
        try:
            _refuse_unusable(folder, asked, resume)
            folder.mkdir(parents=True, exist_ok=True)
            lock = RunLock(folder)
        except OSError as error:
            raise RunError(
                f"a run cannot be kept in {folder}: {error.strerror or error}; "
                "choose another folder with --run (Python: run_dir=…)"
            ) from error
        try:
            fresh = not (folder / RUN_FILE).exists()
            differences: tuple[str, ...] = ()
            if fresh:
                _require_empty(folder, resume)
                write_whole(folder / RUN_FILE, _run_toml(asked))
            else:
                differences = _check_resumable(folder, asked, resume)
            journal = Journal(folder / JOURNAL_FILE, clock)
        except BaseException:
            lock.release()
            raise
        if not fresh:
            journal.emit(Resumed(journal.cut_bytes, differences))
        return cls(folder, journal, lock)

    def part(self, name: str) -> RunFolder:
        """A folder inside this one for a part of the run: candidates of its own, the same journal.
        It need not be closed."""
        return RunFolder(self.path / name, self.journal, self._lock)

    def folder_of(self, subject: str) -> Path:
        """Folder of a candidate (`003`) or of a final row (`final/bm25`)."""
        return self.path / subject if "/" in subject else self.path / "candidates" / subject

    def save_files(self, subject: str, files: Mapping[str, str | bytes]) -> None:
        """Write a subject's genome files, each whole."""
        for name, content in files.items():
            write_whole(self.folder_of(subject) / name, content)
        sync_folder(self.folder_of(subject))

    def save_config(
        self, subject: str, config: RetrievalConfig, file: str = "retrieval.toml"
    ) -> None:
        """Write a subject's configuration, with its router and stages beside it."""
        self.save_files(subject, config_files(config, file))

    def load_config(self, subject: str, file: str = "retrieval.toml") -> RetrievalConfig:
        """The configuration of a subject, with the router and stages beside it that it names."""
        path = self.folder_of(subject) / file
        try:
            return read_config(path)
        except NotFoundError as error:
            raise RunError(f"{path} is gone, though the journal names it: {error}") from None

    def save_cases(self, subject: str, cases: Sequence[Case], file: str = CASES) -> None:
        """Add cases to the subject's record; those of the same questions are replaced."""
        update_cases(self.folder_of(subject) / file, cases)

    def load_cases(
        self, subject: str, question_ids: Collection[str], file: str = CASES
    ) -> list[Case]:
        """Recorded cases of these questions, in the order of `question_ids`."""
        path = self.folder_of(subject) / file
        found = {case.question_id: case for case in read_cases(path)}
        missing = [name for name in question_ids if name not in found]
        if missing:
            raise RunError(
                f"{path} lacks {len(missing)} cases the journal names, first {missing[0]}"
            )
        return [found[name] for name in question_ids]

    def save_usage(self, subject: str, split: str, usage: UsageByRole, seconds: float) -> None:
        """Add what one evaluation used to the subject's usage.json."""
        path = self.folder_of(subject) / "usage.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known[split] = {"seconds": round(seconds, 3), "roles": usage}
        write_whole(path, json.dumps({"format": FORMAT, **known}, indent=1) + "\n")
        sync_folder(path.parent)

    def save_best(self, bundle: Bundle) -> Path:
        """Write best/, replacing an older one in a single step."""

        def fill(path: Path) -> None:
            bundle.save(path)

        write_folder(self.path / BEST, fill)
        return self.path / BEST

    def close(self) -> None:
        """Close the journal and let others have the folder."""
        self.journal.close()
        self._lock.release()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_run(folder: Path) -> Mapping[str, Any]:
    """Contents of run.toml. Raises RunError when it is absent, damaged or of another format."""
    path = folder / RUN_FILE
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{folder} is not a run folder: it has no {RUN_FILE}") from None
    except tomllib.TOMLDecodeError as error:
        raise RunError(f"{path} is damaged: {error}") from error
    if values.get("format") != FORMAT:
        raise RunError(f"{path} has format {values.get('format')!r}; this version reads {FORMAT}")
    return values


def row_subject(row: str) -> str:
    """Where a row of the final report is kept, by its name: `final/ROW`. Names that are no folder
    names get a hash, so that none clash."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", row).strip("-.")
    return f"final/{plain if plain == row else f'{plain}-{content_hash(row)[:6]}'}"


def cases_digest(cases: Sequence[Case]) -> str:
    """A hash of what was scored: question ids, scores and errors."""
    lines = [
        json.dumps([case.question_id, dict(sorted(case.scores.items())), case.error is not None])
        for case in cases
    ]
    return content_hash("\n".join(lines))[:16]


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as TOML keeps them: None left out, tuples as lists."""
    plain: dict[str, Any] = json.loads(
        json.dumps({name: value for name, value in settings.items() if value is not None})
    )
    return plain


def _refuse_unusable(folder: Path, asked: Mapping[str, Any], resume: bool) -> None:
    """What can be told before anything is made or locked there."""
    if resume and not folder.is_dir():
        raise RunError(f"there is no run to resume at {folder}")
    if (folder / RUN_FILE).exists():
        _check_resumable(folder, asked, resume)
    elif folder.is_dir():
        _require_empty(folder, resume)


def _require_empty(folder: Path, resume: bool) -> None:
    found = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name != LOCK_NAME and not entry.name.endswith(".tmp")
    )
    if found:
        told = f"{folder} is not empty ({', '.join(found[:3])}) and holds no run"
        raise RunError(told + ("" if resume else "; choose another folder"))


def _run_toml(asked: Mapping[str, Any]) -> str:
    return tomli_w.dumps(
        {
            "format": FORMAT,
            "git_revision": git_revision(),
            **asked,
            "versions": dict(versions()),
        }
    )


def _check_resumable(folder: Path, asked: Mapping[str, Any], resume: bool) -> tuple[str, ...]:
    """Differences of versions, which are noted; those of settings and data raise."""
    if not resume:
        raise RunError(f"{folder} already holds a run; --resume continues it, or choose another")
    recorded = read_run(folder)
    for part in ("settings", "data"):
        found = _differences(recorded.get(part, {}), asked[part])
        if found:
            raise RunError(f"{folder} was started with other {part}: " + "; ".join(found))
    _check_isolation(folder, recorded.get("isolation"), asked.get("isolation"))
    now = {**versions(), "git": git_revision()}
    then = {**recorded.get("versions", {}), "git": recorded.get("git_revision", "")}
    return tuple(_differences(then, now))


def _check_isolation(folder: Path, recorded: str | None, here: str | None) -> None:
    """One run says one thing of how its programs were isolated."""
    if recorded != here:
        raise RunError(
            f"{folder} ran its programs at sandbox level {recorded}, here it would be {here}; "
            f"continue it on a machine whose level is {recorded} (`memgene doctor` tells it)"
        )


def _differences(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} was {recorded.get(name, 'not given')!r}, now {asked.get(name, 'not given')!r}"
        for name in sorted({*recorded, *asked})
        if recorded.get(name) != asked.get(name)
    ]
