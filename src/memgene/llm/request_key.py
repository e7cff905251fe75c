"""What makes two requests the same."""

from __future__ import annotations

import hashlib
import json

from memgene.llm.protocol import Request

_FORMAT = 1  # raise it when replies to the same key may no longer be used


def request_key(identity: str, request: Request) -> str:
    """SHA-256, 64 hex digits, of the model's identity and everything a request says.

    The schema keeps its order of keys: a model writes the fields in that order.
    """
    parts = {
        "format": _FORMAT,
        "identity": identity,
        "max_tokens": request.max_tokens,
        "messages": [[m.role, m.content] for m in request.messages],
        "schema": None if request.schema is None else json.dumps(request.schema, allow_nan=False),
        "seed": request.seed,
        "stop": list(request.stop),
        "temperature": float(request.temperature),
    }
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
