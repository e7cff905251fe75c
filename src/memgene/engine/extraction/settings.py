"""How facts are extracted: sizes, and guards that can each be taken away."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from memgene.core import InputError, content_hash
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True, slots=True)
class Guards:
    """What stands between a model's reply and a lost or invented fact (EvolveMem §2).

    All are on in use; an ablation takes them away one by one.

    retry: an empty or unusable reply is asked for once more.
    feedback: … and the model is told what was wrong (else it is asked the same with another seed).
    repair: complete items of a reply that was cut, loops or is slightly malformed are kept, and
        the turns after them are asked for again. A cut item is never adopted.
    chunks: turns of a window that failed are asked for in smaller pieces.
    coverage: names, numbers and dates that no fact mentions are asked for.
    captions: image captions belong to the text of their turn.
    support: a fact with a name, number or date that its window does not hold is refused.
    substance: a fact that only tells that somebody asked, greeted or thanked is dropped, and a
        reply of which less than a third can be used counts as a failed one.
    fallback: turns that are lost after all that are stored as they were said.
    """

    retry: bool = True
    feedback: bool = True
    repair: bool = True
    chunks: bool = True
    coverage: bool = True
    captions: bool = True
    support: bool = True
    substance: bool = True
    fallback: bool = True

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every guard, in the order of the table."""
        return tuple(f.name for f in fields(cls))

    @classmethod
    def none(cls) -> Guards:
        """No guard at all."""
        return cls(**dict.fromkeys(cls.names(), False))

    def without(self, name: str) -> Guards:
        """All of these but one. Raises InputError for an unknown name."""
        if name not in self.names():
            raise InputError(f"there is no guard {name!r}; there are {', '.join(self.names())}")
        return replace(self, **{name: False})


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Turns a model sees at once, earlier facts shown with them, turns of a fallback chunk; and
    topics that every window is asked for once more."""

    window: int = 40
    tail: int = 3
    chunk: int = 15
    focus: tuple[str, ...] = ()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        for name, least in (("window", 1), ("tail", 0), ("chunk", 1)):
            if getattr(self, name) < least:
                raise InputError(
                    f"extraction {name} must be at least {least}, got {getattr(self, name)}"
                )

    @classmethod
    def of(cls, config: RetrievalConfig, guards: Guards | None = None) -> ExtractionSettings:
        """The settings that a configuration's levers stand for."""
        guards = guards or Guards()
        if not config.coverage_pass:
            guards = guards.without("coverage")
        return cls(
            window=config.extraction_window,
            tail=config.extraction_tail,
            chunk=config.extraction_chunk,
            focus=tuple(filter(None, (t.strip() for t in config.extraction_focus.split(";")))),
            guards=guards,
        )

    @property
    def digest(self) -> str:
        """Short name of the settings: equal for all that extract alike."""
        return content_hash(repr(self))[:12]
