"""Program files that ship with the package: read as text, never imported."""

from __future__ import annotations

from importlib.resources import files

from memgene.core import ConfigError
from memgene.programs.program import Program


def program_names(package: str) -> tuple[str, ...]:
    """Names of the programs in a package, sorted: `vector_search.py` is `vector-search`."""
    found = (entry.name for entry in files(package).iterdir())
    return tuple(
        sorted(
            name.removesuffix(".py").replace("_", "-")
            for name in found
            if name.endswith(".py") and not name.startswith("_")
        )
    )


def read_program(package: str, name: str) -> Program:
    """The program of this name. Raises ConfigError with the names there are."""
    known = program_names(package)
    if name not in known:
        raise ConfigError(f"there is no program {name!r} here; choose one of {', '.join(known)}")
    path = files(package) / f"{name.replace('-', '_')}.py"
    return Program(path.read_text(encoding="utf-8"))
