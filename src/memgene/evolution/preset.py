"""How a configuration search is run: where it starts, how long, and who becomes the incumbent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memgene.core import ConfigError
from memgene.retrieval.config import RetrievalConfig


@dataclass(frozen=True, slots=True)
class Preset:
    """`minimal`: begin at the weak start of the paper. `follow`: every proposal becomes the
    current configuration until it falls too far under the best (then it is reverted), acceptance
    is best-so-far; else only accepted candidates do. `explore_after` flat rounds a random step is
    taken; after `explorations` of them without gain the search has converged."""

    name: str
    minimal: bool
    rounds: int
    max_changes: int
    explore_after: int
    explorations: int
    follow: bool

    def start(self) -> RetrievalConfig:
        """The configuration evolution begins with."""
        return RetrievalConfig.minimal() if self.minimal else RetrievalConfig()


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "default": Preset("default", False, 12, 2, 2, 3, follow=False),
        "paper": Preset("paper", True, 7, 1, 2, 1, follow=True),
    }
)


def get_preset(name: str) -> Preset:
    """The preset of that name."""
    try:
        return PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise ConfigError(f"there is no preset {name!r}; there are {known}") from None
