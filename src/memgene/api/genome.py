"""What a genome bundle holds, for people and for machines. Nothing of it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.api.results import plain
from memgene.core import content_hash
from memgene.genome import GenomeBundle, Score
from memgene.genome.head import FileEntry, entry_of
from memgene.genome.reading import read_values
from memgene.genome.stored import read_stored
from memgene.genome.trust import SignatureState, signature_state
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True, slots=True)
class StageFacts:
    """A stage as it says of itself, with its strength, 0 = off."""

    name: str
    kind: str
    strength: float
    about: str
    treats: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """An evolved program: digest and number of lines of its source."""

    digest: str
    lines: int


@dataclass(frozen=True, slots=True)
class RouterFacts:
    """A router: its digest, what it weighs, whether it was trained."""

    digest: str
    routes: tuple[str, ...]
    trained: bool


@dataclass(frozen=True, slots=True)
class LearningFacts:
    """What was learned of a memory: values, distilled and retired memories, kinds of query."""

    values: int
    distilled: int
    retired: int
    kinds: int


@dataclass(frozen=True, slots=True)
class GenomeDescription:
    """A bundle's origin, scores and parts; `changed`: lever → (default, here).

    `content` is the content hash (None in format 1, which has none), `bytes` the size of all files,
    `prompts` the instructions that evolved, by name. Parts that it does not have are None.
    """

    id: str
    format: int
    content: str | None
    bytes: int
    strategy: str
    embedder: str
    parents: tuple[str, ...]
    scores: Mapping[str, Score]
    fingerprints: Mapping[str, Any]
    provenance: Mapping[str, Any]
    changed: Mapping[str, tuple[Any, Any]]
    config: Mapping[str, Any]
    files: Mapping[str, FileEntry]
    stages: tuple[StageFacts, ...]
    prompts: Mapping[str, str]
    program: ProgramFacts | None
    router: RouterFacts | None
    memory: LearningFacts | None
    signature: SignatureState | None

    def model_dump(self) -> dict[str, Any]:
        """Plain values."""
        facts = ("scores", "files", "stages", "program", "router", "memory", "signature")
        kept = [name for name in self.__dataclass_fields__ if name not in facts]
        return {
            **{name: plain(getattr(self, name)) for name in kept},
            "scores": {name: asdict(score) for name, score in self.scores.items()},
            "files": {name: asdict(file) for name, file in self.files.items()},
            "stages": [plain(asdict(stage)) for stage in self.stages],
            **{
                name: None if part is None else plain(asdict(part))
                for name in ("program", "router", "memory", "signature")
                for part in (getattr(self, name),)
            },
        }

    def facts(self) -> dict[str, str]:
        """Origin, scores and parts, one line each."""
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
        return {**lines, **self._part_lines(), **self._stored_lines()}

    def changed_rows(self) -> list[tuple[str, str, str]]:
        """Levers that differ from the default configuration: name, default, here."""
        return [(name, str(old), str(new)) for name, (old, new) in self.changed.items()]

    def stage_rows(self) -> list[tuple[str, str, str, str]]:
        """The stages: name, kind, strength, what each does."""
        return [(s.name, s.kind, f"{s.strength:g}", s.about) for s in self.stages]

    def file_rows(self) -> list[tuple[str, str, str]]:
        """The files: name, bytes, SHA-256."""
        return [(name, f"{file.bytes:,}", file.sha256) for name, file in self.files.items()]

    def _part_lines(self) -> dict[str, str]:
        lines = {}
        if self.program is not None:
            lines["program"] = f"{self.program.lines} lines, {self.program.digest}"
        if self.router is not None:
            state = "" if self.router.trained else ", not trained"
            lines["router"] = f"of {', '.join(self.router.routes)}{state}, {self.router.digest}"
        if self.memory is not None:
            found = self.memory
            lines["learned"] = (
                f"{found.values} values, {found.distilled} distilled and {found.retired} retired "
                f"memories, {found.kinds} kinds of query"
            )
        return lines

    def _stored_lines(self) -> dict[str, str]:
        lines = {"format": f"{self.format}, {self.bytes:,} bytes in {len(self.files)} files"}
        if self.content is not None:
            lines["content"] = self.content
        return lines | {"signed by": signature_line(self.signature)}


def describe_genome(path: str | Path) -> GenomeDescription:
    """Read a bundle. Raises NotFoundError when it is absent, ConfigError when damaged."""
    where = Path(path)
    bundle = GenomeBundle.load(where)
    stored = read_stored(where)
    head = read_values(stored)
    return GenomeDescription(
        id=bundle.id,
        format=head["format"],
        content=None if head["format"] == 1 else head["content"],
        bytes=sum(map(len, stored.files.values())),
        strategy=bundle.strategy,
        embedder=bundle.embedder,
        parents=tuple(bundle.parents),
        scores=bundle.scores,
        fingerprints=bundle.fingerprints,
        provenance=bundle.provenance,
        changed=RetrievalConfig().difference(bundle.config),
        config=bundle.config.to_dict(),
        files={name: entry_of(content) for name, content in stored.files.items()},
        stages=_stages(bundle),
        prompts=bundle.prompts.named(),
        program=_program(bundle),
        router=_router(bundle),
        memory=_memory(bundle),
        signature=signature_state(stored),
    )


def signature_line(found: SignatureState | None) -> str:
    """Who signed, in words."""
    if found is None:
        return "nobody"
    if found.true is None:
        return f"{found.signer}, as it says; not checked: {found.why}"
    return found.signer if found.true else f"nobody: it names {found.signer}, and {found.why}"


def _stages(bundle: GenomeBundle) -> tuple[StageFacts, ...]:
    return tuple(
        StageFacts(
            placed.name,
            str(placed.stage.kind),
            placed.strength,
            placed.stage.about,
            tuple(map(str, placed.stage.treats)),
            placed.stage.digest,
        )
        for placed in bundle.config.stages
    )


def _program(bundle: GenomeBundle) -> ProgramFacts | None:
    if bundle.program is None:
        return None
    return ProgramFacts(content_hash(bundle.program)[:12], len(bundle.program.splitlines()))


def _router(bundle: GenomeBundle) -> RouterFacts | None:
    router = bundle.config.router
    return (
        None if router is None else RouterFacts(router.digest, router.routes, not router.untrained)
    )


def _memory(bundle: GenomeBundle) -> LearningFacts | None:
    found = bundle.memory
    if found is None:
        return None
    return LearningFacts(
        values=len(found.values),
        distilled=len(found.distilled),
        retired=len(found.retired),
        kinds=len(found.clusters),
    )
