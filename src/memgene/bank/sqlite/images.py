"""What a lesson's mutations put aside, so that the lesson can be taken back byte for byte.

The payload of a history row tells readers what happened, in the words of a unit. Its image beside
it is for `undo`: the former content of the changed rows exactly as the file held it. Like the
payload it is erased with its unit.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memgene.bank.sqlite.codec import to_json

_IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Image:
    """The former content of what one mutation of a unit changed.

    `columns`: columns of its row. `scope`: the row of `scopes` (num, user, agent, run, owner) that
    its former scope had. `vector`: its vector (None: it had none) in a tuple of one. `value`:
    cluster, q, exposures of a learned value (None: there was none). `edge`: target, kind and
    weight of a relation (None: there was none).
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    scope: tuple[int, str, str, str, int] | None = None
    vector: tuple[bytes | None] | None = None
    value: tuple[str, float | None, int | None] | None = None
    edge: tuple[str, str, float | None] | None = None

    def to_json(self) -> str:
        """Compact text; parts that are empty are left out."""
        parts: dict[str, Any] = {}
        if self.columns:
            parts["columns"] = {
                name: value.hex() if name == _IDENTITY else value
                for name, value in self.columns.items()
            }
        if self.scope:
            parts["scope"] = self.scope
        if self.vector:
            parts["vector"] = self.vector[0] and b64encode(self.vector[0]).decode("ascii")
        if self.value:
            parts["value"] = self.value
        if self.edge:
            parts["edge"] = self.edge
        return to_json(parts)

    @classmethod
    def from_json(cls, text: str) -> Image:
        """The image that `to_json` wrote."""
        parts = json.loads(text)
        columns = parts.get("columns", {})
        if _IDENTITY in columns:
            columns[_IDENTITY] = bytes.fromhex(columns[_IDENTITY])
        vector = parts.get("vector")
        return cls(
            columns,
            tuple(parts["scope"]) if "scope" in parts else None,
            (vector and b64decode(vector),) if "vector" in parts else None,
            tuple(parts["value"]) if "value" in parts else None,
            tuple(parts["edge"]) if "edge" in parts else None,
        )
