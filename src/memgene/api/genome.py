"""What a genome bundle holds, for people and for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.api.opening import load
from memgene.api.results import plain
from memgene.genome import GenomeBundle, Score
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True, slots=True)
class GenomeDescription:
    """A bundle's origin, scores and configuration; `changed`: lever → (default, here)."""

    id: str
    strategy: str
    embedder: str
    parents: tuple[str, ...]
    scores: Mapping[str, Score]
    fingerprints: Mapping[str, Any]
    provenance: Mapping[str, Any]
    changed: Mapping[str, tuple[Any, Any]]
    config: Mapping[str, Any]

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        values = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}
        return {**values, "scores": {name: asdict(score) for name, score in self.scores.items()}}

    def facts(self) -> dict[str, str]:
        """Origin and scores, one line each."""
        lines = {
            "genome": self.id,
            "strategy": self.strategy,
            "embedder": self.embedder,
            "parents": ", ".join(self.parents) or "none",
        }
        for name, score in self.scores.items():
            interval = f"[{100 * score.low:.1f}, {100 * score.high:.1f}]"
            lines[name] = f"{100 * score.mean:.1f} {interval}, {score.n} questions"
        lines |= {f"data {name}": value for name, value in self.fingerprints.items()}
        lines |= {name: str(value) for name, value in self.provenance.items()}
        return lines

    def changed_rows(self) -> list[tuple[str, str, str]]:
        """Levers that differ from the default configuration: name, default, here."""
        return [(name, str(old), str(new)) for name, (old, new) in self.changed.items()]


def describe_genome(path: str | Path) -> GenomeDescription:
    """Read a bundle. Raises NotFoundError when it is absent, ConfigError when damaged."""
    bundle = GenomeBundle.load(Path(path))
    return GenomeDescription(
        id=bundle.id,
        strategy=bundle.strategy,
        embedder=bundle.embedder,
        parents=tuple(bundle.parents),
        scores=bundle.scores,
        fingerprints=bundle.fingerprints,
        provenance=bundle.provenance,
        changed=RetrievalConfig().difference(bundle.config),
        config=bundle.config.to_dict(),
    )


def verify_genome(path: str | Path) -> GenomeDescription:
    """Read a bundle and load its embedder; raises the error that using it would meet."""
    described = describe_genome(path)
    load(described.embedder)
    return described
