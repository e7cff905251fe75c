"""Keys that sign genomes: made, kept in a file, and used. Needs the `sign` extra."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memgene.core import InputError, MissingDependencyError, NotFoundError
from memgene.genome.signature import PREFIX, Signature, key_bytes, key_text, signed_message

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC = ".pub"
_OTHERS = 0o077


@dataclass(frozen=True)
class Signer:
    """A private key at hand. `public_key` is its public half as text."""

    public_key: str
    _key: Ed25519PrivateKey = field(repr=False)

    def sign(self, content: str) -> Signature:
        """The signature over a content hash. Ed25519 draws nothing: equal content, equal bytes."""
        return Signature(
            content, key_bytes(self.public_key), self._key.sign(signed_message(content))
        )


def make_key(path: Path) -> str:
    """Make a key: the private half in `path` (PEM, PKCS 8, unencrypted, readable by its owner
    alone), the public half as text in `path`.pub. Returns the public half.

    Raises InputError when one of the files is there: a key is never overwritten.
    """
    _require()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key_text(key.public_key().public_bytes_raw())
    beside = path.with_name(path.name + PUBLIC)
    if beside.exists():
        raise InputError(f"{beside} is there already; a key is never overwritten")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path} is there already; a key is never overwritten") from None
    with os.fdopen(made, "wb") as file:
        file.write(private)
    beside.write_text(public + "\n", encoding="ascii")
    return public


def read_signer(path: Path) -> Signer:
    """The private key in a file.

    Raises NotFoundError when it is not there, InputError when it is no Ed25519 key, is locked by a
    password, or can be read by others than its owner.
    """
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        content = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise NotFoundError(f"there is no key at {path}; `memgene genome key` makes one") from None
    if os.name == "posix" and mode & _OTHERS:
        raise InputError(f"others can read the private key {path}: chmod 600 {path}")
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is no private key that can be used: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is a key of another kind; an Ed25519 key is needed")
    return Signer(key_text(key.public_key().public_bytes_raw()), key)


def read_public(given: str | Path) -> str:
    """A public key, given as text (`ed25519:…`) or as the file that holds it. Raises InputError or
    NotFoundError."""
    text = str(given)
    if not text.startswith(PREFIX):
        try:
            text = Path(given).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise NotFoundError(
                f"there is no public key at {given}: name a file, or give {PREFIX}…"
            ) from None
        except UnicodeDecodeError as error:
            raise InputError(f"{given} is no public key: {error}") from error
    try:
        return key_text(key_bytes(text))
    except ValueError as error:
        raise InputError(f"{given} is no public key: {error}") from error


def is_true(signature: Signature) -> bool:
    """Whether the signature was made with the private half of the key it names. Raises
    MissingDependencyError where the `sign` extra is not installed."""
    _require()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(signature.public_key)
        key.verify(signature.value, signed_message(signature.content))
    except (InvalidSignature, ValueError):
        return False
    return True


def _require() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "signatures of genomes need the cryptography package: pip install 'memgene[sign]'"
        ) from error
