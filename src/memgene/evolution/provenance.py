"""What made a run: package versions, the git revision of this code, the wording of prompts."""

from __future__ import annotations

import pkgutil
import platform
import subprocess
from collections.abc import Mapping
from importlib import import_module, metadata
from pathlib import Path

from memgene.core import content_hash
from memgene.llm import prompts
from memgene.llm.prompts.prompt import Prompt

_PACKAGES = ("memgene", "numpy", "PyStemmer", "tokenizers", "safetensors", "wordllama", "chromadb")


def versions() -> Mapping[str, str]:
    """Python and the packages that results depend on; absent ones are left out."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_revision() -> str:
    """Revision of the checkout this code runs from, `+changes` when edited, "" when installed."""
    here = Path(__file__).parent
    if _git(here, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return ""
    revision = _git(here, "rev-parse", "HEAD")
    if revision is None:
        return ""
    return revision + ("+changes" if _git(here, "status", "--porcelain", "--", "../..") else "")


def prompts_digest() -> str:
    """A hash of every word that is said to language models."""
    found = {
        f"{name} {prompt.digest}"
        for module in pkgutil.iter_modules(prompts.__path__)
        for name, prompt in vars(import_module(f"{prompts.__name__}.{module.name}")).items()
        if isinstance(prompt, Prompt)
    }
    return content_hash("\n".join(sorted(found)))[:12]


def _git(folder: Path, *arguments: str) -> str | None:
    """Output of a git command, None when there is no git, no repository or it says no."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
