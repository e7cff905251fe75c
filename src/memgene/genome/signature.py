"""`signature.toml`: who vouches for a bundle, over its content hash (Ed25519, RFC 8032)."""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from memgene.core import StoredConfigError

FORMAT = 1
ALGORITHM = "ed25519"
PREFIX = f"{ALGORITHM}:"
KEY_BYTES, SIGNATURE_BYTES = 32, 64
_KEYS = {"format", "content", "public_key", "signature"}
_CONTENT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature as stored, not yet held against a key. `content` is the content hash it is over,
    `public_key` the 32 bytes of the signer's key, `value` the 64 bytes of the signature."""

    content: str
    public_key: bytes
    value: bytes

    @property
    def signer(self) -> str:
        """The signer's public key as text."""
        return key_text(self.public_key)

    def to_bytes(self) -> bytes:
        """The text of `signature.toml`."""
        import tomli_w

        values = {
            "format": FORMAT,
            "content": self.content,
            "public_key": self.signer,
            "signature": base64.b64encode(self.value).decode("ascii"),
        }
        return tomli_w.dumps(values).encode()

    @classmethod
    def read(cls, content: bytes, where: str) -> Signature:
        """Inverse of `to_bytes`; `where` names the file. Whether the signature is a true one is
        not asked here.

        Raises StoredConfigError when it is damaged or of another format.
        """
        try:
            values = tomllib.loads(content.decode())
        except (ValueError, RecursionError) as error:
            raise StoredConfigError(f"{where} is damaged: {error}") from error
        if values.get("format") != FORMAT:
            raise StoredConfigError(
                f"{where} has format {values.get('format')!r}; this version reads {FORMAT}: "
                "upgrade memgene"
            )
        try:
            return cls._of(values)
        except (KeyError, ValueError, TypeError) as error:
            raise StoredConfigError(f"{where} is damaged: {error}") from error

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Signature:
        if values.keys() != _KEYS:
            raise ValueError(f"its entries are {', '.join(values)}")
        if not _CONTENT.fullmatch(values["content"]):
            raise ValueError("content is no SHA-256")
        value = base64.b64decode(values["signature"], validate=True)
        if len(value) != SIGNATURE_BYTES:
            raise ValueError(f"a signature has {SIGNATURE_BYTES} bytes")
        return cls(values["content"], key_bytes(values["public_key"]), value)


def signed_message(content: str) -> bytes:
    """The bytes that are signed: the content hash, under a line that says what it is, so that the
    signature means nothing elsewhere."""
    return f"memgene genome\n{content}\n".encode("ascii")


def key_text(key: bytes) -> str:
    """A public key as text: `ed25519:` and its 32 bytes in base64."""
    return PREFIX + base64.b64encode(key).decode("ascii")


def key_bytes(text: str) -> bytes:
    """Inverse of `key_text`. Raises ValueError for anything else."""
    if not text.startswith(PREFIX):
        raise ValueError(f"a public key begins with {PREFIX}")
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(f"a public key is base64 behind {PREFIX}: {error}") from error
    if len(key) != KEY_BYTES:
        raise ValueError(f"a public key has {KEY_BYTES} bytes, got {len(key)}")
    return key
