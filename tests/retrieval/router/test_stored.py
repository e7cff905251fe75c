"""`router.npz`: equal bytes for equal routers, and nothing else gets in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import StoredConfigError
from memgene.retrieval.router.router import Router

Trained = Callable[..., Router]


def parts_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def described(router: Router, **change: object) -> bytes:
    """The router's file with other values in its description; None-less keys are replaced."""
    parts = parts_of(router.to_bytes())
    about = json.loads(parts["router.json"]) | change
    return packed(parts | {"router.json": json.dumps(about).encode()})


@given(
    st.integers(0, 1000),
    st.sampled_from([0, 3]),
    st.sampled_from([None, 0.3, 1.5]),
    st.floats(0, 4),
)
def test_there_and_back_is_the_same_to_the_byte(
    trained: Trained, seed: int, hidden: int, bound: float | None, strength: float
) -> None:
    router = trained(seed, hidden=hidden, bound=bound, strength=strength)
    back = Router.from_bytes(router.to_bytes())
    assert back.to_bytes() == router.to_bytes()
    assert (back.routes, back.features) == (router.routes, router.features)
    assert (back.bound, back.strength) == (router.bound, router.strength)
    assert all(back.arrays[n].tolist() == router.arrays[n].tolist() for n in router.arrays)


def test_a_bound_written_as_a_whole_number_has_the_same_bytes(trained: Trained) -> None:
    assert trained(0, bound=2, strength=1).to_bytes() == trained(0, bound=2.0).to_bytes()


def test_numpy_opens_it_without_pickle(trained: Trained) -> None:
    router = trained(0)
    with np.load(io.BytesIO(router.to_bytes()), allow_pickle=False) as opened:
        assert opened["head"].tolist() == router.arrays["head"].tolist()


@given(st.data())
def test_damage_is_refused_or_changes_nothing(trained: Trained, data: st.DataObject) -> None:
    router = trained(0)
    whole = bytearray(router.to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 30))
    try:
        loaded = Router.from_bytes(bytes(whole[: len(whole) - cut]))
    except StoredConfigError:
        return
    assert loaded == router


class _Trap:
    """What a pickle may do: run code as it is loaded."""

    sprung = False

    @classmethod
    def spring(cls) -> float:
        cls.sprung = True
        return 1.0

    def __reduce__(self) -> tuple[Callable[[], float], tuple[()]]:
        return _Trap.spring, ()


def test_a_pickle_inside_is_refused_and_not_run(trained: Trained) -> None:
    router = trained(0)
    trap = np.empty(router.arrays["head"].shape, object)
    trap[:] = _Trap()
    content = packed(parts_of(router.to_bytes()) | {"head.npy": npy(trap)})
    with pytest.raises(StoredConfigError, match=r"router\.npz is unusable: head must hold float64"):
        Router.from_bytes(content)
    assert not _Trap.sprung


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((2, 2)), r"float64 numbers in shape \(3, 5\), got float64 in \(2, 2\)"),
        (np.zeros((3, 5), np.float32), "got float32"),
        (np.zeros((3, 5), ">f8"), "got >f8"),
        (np.zeros((3, 5), order="F"), "float64 numbers"),
        (np.full((3, 5), np.nan), "finite"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(trained: Trained, values: Any, words: str) -> None:
    content = packed(parts_of(trained(0).to_bytes()) | {"head.npy": npy(values)})
    with pytest.raises(StoredConfigError, match=words):
        Router.from_bytes(content)


def test_a_header_that_promises_more_than_there_is_is_refused(trained: Trained) -> None:
    parts = parts_of(trained(0).to_bytes())
    with pytest.raises(StoredConfigError, match="head is cut off"):
        Router.from_bytes(packed(parts | {"head.npy": parts["head.npy"][:-8]}))
    with pytest.raises(StoredConfigError, match="must hold float64"):
        Router.from_bytes(described(trained(0), dimension=10**12))


def test_a_part_too_few_or_too_many_is_refused(trained: Trained) -> None:
    parts = parts_of(trained(0).to_bytes())
    fewer = {name: content for name, content in parts.items() if name != "head.npy"}
    for other in (fewer, parts | {"extra.npy": npy(np.zeros(2))}):
        with pytest.raises(StoredConfigError, match="its parts are"):
            Router.from_bytes(packed(other))


def test_a_compressed_file_is_refused_since_it_could_grow_without_end(trained: Trained) -> None:
    content = packed(parts_of(trained(0).to_bytes()), zipfile.ZIP_DEFLATED)
    with pytest.raises(StoredConfigError, match="compressed or too long"):
        Router.from_bytes(content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, r"it has format 2 and this version reads format 1.*train the router again"),
        ({"kind": "ranker"}, "does not describe a router"),
        ({"more": 1}, "must name exactly"),
        ({"hidden": 2.0}, "hidden in its router.json has the wrong type"),
        ({"hidden": True}, "hidden in its router.json has the wrong type"),
        ({"routes": "dense"}, "routes in its router.json has the wrong type"),
        ({"routes": ["dense", ["sparse"], "date"]}, "route names"),
        ({"bound": "1.5"}, "bound in its router.json has the wrong type"),
        ({"bound": float("nan")}, "bound must be above 0"),
        ({"strength": 10**400}, "not a router's file"),
        ({"dimension": -4}, "0 or more"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(
    trained: Trained, change: dict[str, object], words: str
) -> None:
    with pytest.raises(StoredConfigError, match=words):
        Router.from_bytes(described(trained(0), **change))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a router's file"),
        (b"PK\x03\x04 nothing", "not a router's file"),
        (npy(np.zeros(3)), "not a router's file"),
        (packed({"head.npy": npy(np.zeros(3))}), "it has no router.json"),
        (packed({"router.json": b"{"}), "not JSON"),
        (packed({"router.json": b"\xff\xfe\xfa"}), "not JSON"),
        (packed({"router.json": b"[]"}), "does not describe a router"),
        (packed({"router.json": b" " * (1 << 21)}), "compressed or too long"),
    ],
)
def test_other_files_are_refused_by_name(content: bytes, words: str) -> None:
    with pytest.raises(StoredConfigError, match=words) as refused:
        Router.from_bytes(content, "best/router.npz")
    assert str(refused.value).startswith("best/router.npz")
