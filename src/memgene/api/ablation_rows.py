"""The published ablations of the three systems: what each row changes, and what was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class AblationRow:
    """`settings` are those of `evolve` that the row changes; `published` what the system's paper
    says of it, with its own metric and data. `skipped` says why it cannot be run offline (empty:
    it can)."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    published: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """A published system as one of our strategies; the first row is the whole of it."""

    name: str
    strategy: str
    rows: tuple[AblationRow, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


_MODEL = "needs a language model"

EVOLVEMEM = System(
    "evolvemem",
    "config",
    (
        AblationRow("full", published="54.3 token F1 (LoCoMo, GPT-4o)"),
        AblationRow("no extraction guards", published="−23.2", skipped=f"extraction {_MODEL}"),
        AblationRow("no semantic views", {"held": {"dense_k": 0, "soft_k": 0}}, "−10.3"),
        AblationRow("diagnosis replaced by random", {"proposer": "random"}, "−9.6"),
        AblationRow("no lexical views", {"held": {"lexical_k": 0, "window_k": 0}}, "−6.9"),
        AblationRow("no metadata", {"held": {"structured_k": 0}}, "−2.3"),
        AblationRow("with discovered stages", {"stages": True}, "−7.8 without them"),
    ),
)
MSTAR = System(
    "mstar",
    "program",
    (
        AblationRow("full (population)", published="45.9 F1 (LoCoMo)"),
        AblationRow("code alone", {"plan": "scope=code"}, "35.3 (− instruction)"),
        AblationRow(
            "instructions alone",
            {"plan": "scope=instructions"},
            "25.6 (− code)",
            f"an agent that reads instructions {_MODEL}",
        ),
        AblationRow("always the best parent", {"plan": "search=max"}, "38.1"),
        AblationRow("linear, from one empty program", {"plan": "search=linear"}, "31.8"),
        AblationRow("best of N", {"plan": "search=best-of-n"}),
    ),
)
COEVOMEM = System(
    "coevomem",
    "coevolve",
    (
        AblationRow("full (alternating)", published="81.7 (LoCoMo, judged)"),
        AblationRow("no SR-QR", {"plan": "self_routing=off"}, "77.3"),
        AblationRow("no memory evolution: bank frozen", {"plan": "memory=frozen"}, "77.9"),
        AblationRow("no memory evolution: items only", {"plan": "memory=items"}, "77.9"),
        AblationRow("simultaneous", {"plan": "schedule=simultaneous"}, "79.7"),
        AblationRow("two-stage", {"plan": "schedule=two-stage"}, "78.8"),
    ),
    {"preset": "paper"},
)
SYSTEMS: Mapping[str, System] = MappingProxyType(
    {system.name: system for system in (MSTAR, EVOLVEMEM, COEVOMEM)}
)
"""By name."""
