"""SQL functions that the bank's queries need beside SQLite's own."""

from __future__ import annotations

import json
import sqlite3


def register_functions(connection: sqlite3.Connection) -> None:
    """Define `json_same(metadata, key, wanted)` on the connection."""
    connection.create_function("json_same", 3, json_same, deterministic=True)


def json_same(metadata: str | None, key: str, wanted: str) -> bool:
    """Whether the JSON object holds `key` with a value equal to the JSON text `wanted`."""
    if metadata is None:
        return False
    values = json.loads(metadata)
    return key in values and bool(values[key] == json.loads(wanted))
