"""`router.npz`: a router as bytes. An archive numpy can open; never a pickle, no clock inside."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from memgene.core import ConfigError, StoredConfigError
from memgene.retrieval.router import network
from memgene.retrieval.router.observation import Floats
from memgene.retrieval.router.router import Router, check_form

FORMAT = 1
_ABOUT = "router.json"
_ABOUT_MOST = 1 << 20
_HEADER_MOST = 1 << 10
_FORM: dict[str, tuple[type, ...]] = {
    "routes": (list,),
    "features": (list,),
    "dimension": (int,),
    "hidden": (int,),
    "bound": (float, int, type(None)),
    "strength": (float, int),
}
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    struct.error,
)


def pack(router: Router) -> bytes:
    """The file: `router.json` (format, form) and one little-endian float64 `.npy` per array."""
    about = {"format": FORMAT, "kind": "router"} | {key: getattr(router, key) for key in _FORM}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, _ABOUT, (json.dumps(about, indent=1) + "\n").encode())
        for name, values in router.arrays.items():
            written = io.BytesIO()
            np.lib.format.write_array(
                written, values.astype("<f8"), version=(1, 0), allow_pickle=False
            )
            _add(archive, f"{name}.npy", written.getvalue())
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980, whatever the clock says
    info.create_system = 3  # the same on every platform
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)


def unpack(content: bytes, where: str) -> Router:
    """Inverse of `pack`.

    Raises:
        StoredConfigError: see `Router.from_bytes`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(archive)
    except _BROKEN as error:
        raise StoredConfigError(f"{where} is not a router's file (.npz): {error}") from error
    except ConfigError as error:
        raise StoredConfigError(f"{where} is unusable: {error}") from error


def _read(archive: zipfile.ZipFile) -> Router:
    about = _about(archive)
    form = {key: about[key] for key in _FORM} | {
        "routes": tuple(about["routes"]),
        "features": tuple(about["features"]),
    }
    check_form(**form)
    wanted = network.shapes(
        len(form["routes"]), len(form["features"]), form["dimension"], form["hidden"]
    )
    parts = sorted(archive.namelist())
    if parts != sorted([_ABOUT, *(f"{name}.npy" for name in wanted)]):
        raise ConfigError(f"its parts are {parts}, not those of a router of this form")
    return Router(
        **form, arrays={name: _array(archive, name, shape) for name, shape in wanted.items()}
    )


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """A part of the file: stored as it is, so that it can take no more room than the file."""
    if name not in archive.namelist():
        raise ConfigError(f"it has no {name}")
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > most:
        raise ConfigError(f"its {name} is compressed or too long")
    return archive.read(info)


def _about(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        about = json.loads(_member(archive, _ABOUT, _ABOUT_MOST))
    except ValueError as error:
        raise ConfigError(f"its {_ABOUT} is not JSON: {error}") from error
    if not isinstance(about, dict) or about.get("kind") != "router":
        raise ConfigError(f"its {_ABOUT} does not describe a router")
    if about.get("format") != FORMAT:
        raise ConfigError(
            f"it has format {about.get('format')!r} and this version reads format {FORMAT}: "
            "use the version of memgene that wrote it, or train the router again"
        )
    if about.keys() != {"format", "kind", *_FORM}:
        raise ConfigError(f"its {_ABOUT} must name exactly format, kind, {', '.join(_FORM)}")
    for key, kinds in _FORM.items():
        if type(about[key]) not in kinds:
            raise ConfigError(f"{key} in its {_ABOUT} has the wrong type: {about[key]!r}")
    return about


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> Floats:
    """One array, believed only where its size and header are those expected."""
    size = 8 * math.prod(shape)
    stream = io.BytesIO(_member(archive, f"{name}.npy", size + _HEADER_MOST))
    try:
        version = np.lib.format.read_magic(stream)
        found, by_column, kind = np.lib.format.read_array_header_1_0(stream)
    except ValueError as error:
        raise ConfigError(f"{name} is not a .npy array: {error}") from error
    if version != (1, 0) or kind != np.dtype("<f8") or by_column or found != shape:
        raise ConfigError(
            f"{name} must hold float64 numbers in shape {shape}, got {kind} in {found}"
        )
    raw = stream.read()
    if len(raw) != size:
        raise ConfigError(f"{name} is cut off: {len(raw)} bytes of {size}")
    return np.frombuffer(raw, "<f8").reshape(shape)
