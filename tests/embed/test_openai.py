"""The OpenAI-compatible embedder against a small server that speaks the protocol."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from memgene.core.errors import DataError, InputError, MissingDependencyError
from memgene.embed.openai import OpenAIEmbedder


class Server(ThreadingHTTPServer):
    """Embeds a text as (length, 1, 0, …); keeps the requests; can be told to misbehave."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.busy = 0
        self.lose_one = False
        self.size = 3

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/embeddings"
        if self.server.busy:
            self.server.busy -= 1
            self._reply(503, {"error": {"message": "busy"}}, {"retry-after-ms": "1"})
            return
        self.server.requests.append(body)
        self.server.keys.append(self.headers["Authorization"])
        size = body.get("dimensions", self.server.size)
        data = [
            {"object": "embedding", "index": i, "embedding": [len(t), 1.0, *[0.0] * (size - 2)]}
            for i, t in enumerate(body["input"])
        ]
        data.reverse()  # the order is given by `index`, not by place
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        data = data[: len(data) - self.server.lose_one]
        self._reply(200, {"object": "list", "model": "m", "data": data, "usage": usage})

    def _reply(self, code: int, content: Any, headers: dict[str, str] | None = None) -> None:
        raw = json.dumps(content).encode()
        self.send_response(code)
        for key, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("openai")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAIEmbedder]:
    made = OpenAIEmbedder("m", base_url=server.url, api_key="k", batch_size=2)
    yield made
    made.close()


def test_rows_come_in_the_order_of_the_texts_and_blank_texts_are_not_sent(
    server: Server, embedder: OpenAIEmbedder
) -> None:
    vectors = embedder.embed(["a", "", "abc", "ab"])
    expected = np.array([[1, 1, 0], [0, 0, 0], [3, 1, 0], [2, 1, 0]], dtype=float)
    expected[[0, 2, 3]] /= np.linalg.norm(expected[[0, 2, 3]], axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32
    assert [r["input"] for r in server.requests] == [["a", "abc"], ["ab"]]
    assert server.requests[0]["model"] == "m"
    assert server.keys[0] == "Bearer k"


def test_the_size_is_known_from_the_first_reply(server: Server, embedder: OpenAIEmbedder) -> None:
    server.size = 5
    assert embedder.dimension == 5
    assert embedder.dimension == 5
    assert len(server.requests) == 1
    assert embedder.embed([]).shape == (0, 5)


def test_shorter_vectors_can_be_asked_for_and_are_named(server: Server) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.url, api_key="k", dimensions=4)
    assert embedder.embed(["a"]).shape == (1, 4)
    assert server.requests[0]["dimensions"] == 4
    assert embedder.name == "openai/m@4"
    embedder.close()


def test_a_busy_server_is_asked_again(server: Server, embedder: OpenAIEmbedder) -> None:
    server.busy = 1
    assert embedder.embed(["a"]).any()


def test_a_lost_vector_is_an_error(server: Server, embedder: OpenAIEmbedder) -> None:
    server.lose_one = True
    with pytest.raises(DataError, match="sent 2 texts, got 1 vectors back"):
        embedder.embed(["a", "b"])


def test_a_changed_size_is_an_error(server: Server, embedder: OpenAIEmbedder) -> None:
    embedder.embed(["a"])
    server.size = 4
    with pytest.raises(DataError, match="changed the size"):
        embedder.embed(["b"])


def test_an_empty_batch_size_is_refused() -> None:
    pytest.importorskip("openai")
    with pytest.raises(InputError, match="batch_size"):
        OpenAIEmbedder("m", base_url="http://127.0.0.1:1/v1", api_key="k", batch_size=0)


def test_without_the_package_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r"memgene\[openai\]"):
        OpenAIEmbedder("m")
