"""Signed bundles: keys, what is signed, who is believed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from memgene.core import InputError, MissingDependencyError, NotFoundError, StoredConfigError
from memgene.genome import GenomeBundle
from memgene.genome.checking import check_bundle
from memgene.genome.keys import make_key, read_public, read_signer
from memgene.genome.packing import pack_bundle

Pack = Callable[[str], Path]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    make_key(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def public(key: Path) -> str:
    return read_public(f"{key}.pub")


@pytest.fixture(params=["g.memgene", "g"], ids=["file", "folder"])
def signed(request: pytest.FixtureRequest, full: GenomeBundle, key: Path, tmp_path: Path) -> Path:
    full.save(tmp_path / "plain")
    path: Path = tmp_path / request.param
    pack_bundle(tmp_path / "plain", path, read_signer(key))
    return path


def without_crypto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)


def test_a_key_is_for_its_owner_alone_and_never_overwritten(key: Path) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    private = key.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        make_key(key)
    key.with_name("key.pub").unlink()
    with pytest.raises(InputError, match="never overwritten"):
        make_key(key)
    assert key.read_bytes() == private


def test_a_key_is_what_other_tools_read(key: Path, public: str) -> None:
    found = serialization.load_pem_private_key(key.read_bytes(), None)
    assert isinstance(found, Ed25519PrivateKey)
    raw = found.public_key().public_bytes_raw()
    assert public == "ed25519:" + base64.b64encode(raw).decode()


def test_a_signature_is_over_the_content_hash_of_all_that_is_said(
    full: GenomeBundle, key: Path, public: str, tmp_path: Path
) -> None:
    """Worked out from the page on genomes alone."""
    full.save(tmp_path / "plain")
    pack_bundle(tmp_path / "plain", tmp_path / "g", read_signer(key))
    head = tomllib.loads((tmp_path / "g" / "genome.toml").read_text(encoding="utf-8"))
    told = head.pop("content")
    text = json.dumps(head, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert told == hashlib.sha256(text.encode()).hexdigest()
    for name, entry in head["files"].items():
        content = (tmp_path / "g" / name).read_bytes()
        assert entry == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}

    signature = tomllib.loads((tmp_path / "g" / "signature.toml").read_text())
    assert set(signature) == {"format", "content", "public_key", "signature"}
    assert signature["format"] == 1
    assert signature["content"] == told
    assert signature["public_key"] == public
    raw = base64.b64decode(public.removeprefix("ed25519:"))
    Ed25519PublicKey.from_public_bytes(raw).verify(
        base64.b64decode(signature["signature"]), f"memgene genome\n{told}\n".encode()
    )


def test_equal_genomes_signed_with_one_key_are_equal_bytes(
    full: GenomeBundle, key: Path, tmp_path: Path
) -> None:
    full.save(tmp_path / "folder")
    full.save(tmp_path / "one.zip")
    for source, target in (("folder", "a.memgene"), ("one.zip", "b.memgene")):
        pack_bundle(tmp_path / source, tmp_path / target, read_signer(key))
    assert (tmp_path / "a.memgene").read_bytes() == (tmp_path / "b.memgene").read_bytes()


def test_it_loads_with_or_without_asking_who_signed(
    signed: Path, full: GenomeBundle, key: Path, public: str
) -> None:
    assert GenomeBundle.load(signed) == full
    assert GenomeBundle.load(signed, signed_by=public) == full
    assert GenomeBundle.load(signed, signed_by=f"{key}.pub") == full
    checked = check_bundle(signed)
    assert checked.whole
    assert checked.signature is not None
    assert (checked.signature.signer, checked.signature.true) == (public, True)


def test_another_signer_or_none_is_refused_where_one_is_asked_for(
    signed: Path, full: GenomeBundle, public: str, tmp_path: Path
) -> None:
    other = make_key(tmp_path / "other")
    with pytest.raises(StoredConfigError, match="is signed by ") as refusal:
        GenomeBundle.load(signed, signed_by=other)
    assert public in str(refusal.value)
    assert other in str(refusal.value)
    with pytest.raises(StoredConfigError, match="is not signed"):
        GenomeBundle.load(full.save(tmp_path / "bare"), signed_by=public)


def test_a_signature_that_was_lifted_from_another_genome_is_refused(
    full: GenomeBundle, key: Path, tmp_path: Path
) -> None:
    full.save(tmp_path / "plain")
    pack_bundle(tmp_path / "plain", tmp_path / "signed", read_signer(key))
    other = replace(full, provenance={"seed": 4}).save(tmp_path / "other")
    (other / "signature.toml").write_bytes((tmp_path / "signed" / "signature.toml").read_bytes())
    with pytest.raises(StoredConfigError, match="changed after it was signed"):
        GenomeBundle.load(other)
    (found,) = check_bundle(other).deviations
    assert (found.file, found.how) == ("signature.toml", "damaged")


def test_a_signature_made_up_for_somebody_elses_key_is_not_true(
    full: GenomeBundle, key: Path, public: str, tmp_path: Path
) -> None:
    full.save(tmp_path / "plain")
    pack_bundle(tmp_path / "plain", tmp_path / "g", read_signer(key))
    file = tmp_path / "g" / "signature.toml"
    values = tomllib.loads(file.read_text())
    values["signature"] = base64.b64encode(bytes(64)).decode()
    file.write_text(tomli_w.dumps(values))
    state = check_bundle(tmp_path / "g").signature
    assert state is not None
    assert (state.signer, state.true) == (public, False)
    with pytest.raises(StoredConfigError, match="is not true"):
        GenomeBundle.load(tmp_path / "g", signed_by=public)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("format", 2),
        ("content", "x"),
        ("content", 3),
        ("public_key", "rsa:AAAA"),
        ("public_key", "ed25519:AAAA"),
        ("public_key", "ed25519:?"),
        ("signature", "AAAA"),
        ("more", 1),
    ],
)
def test_a_signature_file_of_another_shape_is_refused(
    full: GenomeBundle, key: Path, tmp_path: Path, entry: str, value: object
) -> None:
    full.save(tmp_path / "plain")
    pack_bundle(tmp_path / "plain", tmp_path / "g", read_signer(key))
    file = tmp_path / "g" / "signature.toml"
    file.write_text(tomli_w.dumps({**tomllib.loads(file.read_text()), entry: value}))
    with pytest.raises(StoredConfigError, match=r"signature\.toml"):
        GenomeBundle.load(tmp_path / "g")


def test_saving_a_genome_again_leaves_no_signature_of_the_former(
    full: GenomeBundle, key: Path, tmp_path: Path
) -> None:
    path = full.save(tmp_path / "g")
    pack_bundle(path, path, read_signer(key))
    assert (path / "signature.toml").exists()
    full.save(path)
    assert not (path / "signature.toml").exists()


def test_keys_that_are_none_are_told(key: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="memgene genome key"):
        read_signer(tmp_path / "absent")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "text").chmod(0o600)
    with pytest.raises(InputError, match="no private key"):
        read_signer(tmp_path / "text")
    with pytest.raises(InputError, match="no public key"):
        read_public(tmp_path / "text")
    with pytest.raises(InputError, match="no public key"):
        read_public("ed25519:AAAA")
    with pytest.raises(NotFoundError, match="no public key at"):
        read_public(tmp_path / "absent")
    if os.name == "posix":
        key.chmod(0o644)
        with pytest.raises(InputError, match="chmod 600"):
            read_signer(key)


def test_keys_of_another_kind_are_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    path = tmp_path / "other"
    path.write_bytes(
        X25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    path.chmod(0o600)
    with pytest.raises(InputError, match="Ed25519 key is needed"):
        read_signer(path)


def test_without_the_extra_bundles_load_and_signatures_are_not_believed(
    signed: Path, full: GenomeBundle, public: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_crypto(monkeypatch)
    assert GenomeBundle.load(signed) == full
    state = check_bundle(signed).signature
    assert state is not None
    assert state.true is None
    assert "memgene[sign]" in state.why
    with pytest.raises(MissingDependencyError, match=r"memgene\[sign\]"):
        GenomeBundle.load(signed, signed_by=public)
