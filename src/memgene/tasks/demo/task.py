"""The bundled task of `memgene demo`: no download, no key, no licence trouble."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from memgene.tasks.benchmarks.info import BenchmarkInfo
from memgene.tasks.sources import refuse_unknown
from memgene.tasks.task import Regime, Task


def demo_task() -> Task:
    """Thirteen groups: eight dated conversations of two people, five scenarios of BFCL-memory."""
    # pydantic is wanted for folders only.
    from memgene.tasks.folder import load_folder

    with resources.as_file(resources.files("memgene.tasks.demo") / "data") as folder:
        return load_folder(folder)


def _load(data: Path | None, options: Mapping[str, Any]) -> Task:
    refuse_unknown(options, (), INFO.name)
    return demo_task()


INFO = BenchmarkInfo(
    name="demo",
    description="Bundled: conversations written for memgene, and a part of BFCL-memory",
    regime=Regime.OWN_GROUP,
    metric="recall@10",
    licence="Apache-2.0",
    obtain="It comes with memgene.",
    load=_load,
)
