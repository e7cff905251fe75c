"""From the files of a bundle to a genome, whatever version wrote it, or to what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memgene.core import NotFoundError, StoredConfigError
from memgene.genome import format1
from memgene.genome.contents import Contents, read_contents
from memgene.genome.head import FORMAT, Head, Origin, entry_of, parsed_head
from memgene.genome.prompts import check_prompts
from memgene.genome.signature import Signature
from memgene.genome.stored import HEAD, SIGNATURE, StoredFiles


@dataclass(frozen=True, slots=True)
class Deviation:
    """A file that is not as the manifest says. `how`: missing, extra, changed or damaged."""

    file: str
    how: str
    detail: str = ""


def read_genome(stored: StoredFiles) -> tuple[Origin, Contents]:
    """Where the genome came from and what it does; nothing of it is run.

    Raises:
        NotFoundError: a file is missing.
        StoredConfigError: a format this version does not know; a file is damaged, not the one that
            was stored, or not listed; the signature is of another genome.
    """
    values = read_values(stored)
    if values["format"] == format1.FORMAT:
        return format1.read_format1(stored, values)
    head = read_head(stored, values)
    _refuse_deviations(stored, deviations(stored, head))
    contents = read_contents(stored)
    check_prompts(stored, contents.program)
    return head.origin, contents


def read_values(stored: StoredFiles) -> Mapping[str, Any]:
    """What `genome.toml` says, of a format that is known. Raises as `read_genome`."""
    where = f"{stored.path}/{HEAD}"
    values = parsed_head(stored.content(HEAD), where)
    found = values.get("format")
    if found in (format1.FORMAT, FORMAT) and not isinstance(found, bool | float):
        return values
    newer = isinstance(found, int) and found > FORMAT
    raise StoredConfigError(
        f"{stored.path} is a genome of format {found!r}; this version reads {format1.FORMAT} and "
        f"{FORMAT}: "
        + ("upgrade memgene" if newer else "it is no genome, or a damaged one; get it anew")
    )


def read_head(stored: StoredFiles, values: Mapping[str, Any]) -> Head:
    """The head of format 2, and the signature held against it. Raises as `read_genome`."""
    head = Head.read(values, f"{stored.path}/{HEAD}")
    if SIGNATURE in stored.files:
        where = f"{stored.path}/{SIGNATURE}"
        signature = Signature.read(stored.files[SIGNATURE], where)
        if signature.content != head.content:
            raise StoredConfigError(
                f"{where} signs {signature.content[:12]}…, and this genome's content is "
                f"{head.content[:12]}…: it was changed after it was signed"
            )
    return head


def deviations(stored: StoredFiles, head: Head) -> list[Deviation]:
    """Files that are not as the manifest says, in the order of the bundle."""
    outside = (HEAD, SIGNATURE)
    found = []
    for name, entry in head.files.items():
        if name not in stored.files:
            found.append(Deviation(name, "missing"))
        elif (here := entry_of(stored.files[name])) != entry:
            told = f"{entry.bytes} bytes of SHA-256 {entry.sha256[:12]}…"
            detail = f"{here.bytes} bytes of SHA-256 {here.sha256[:12]}…, stored were {told}"
            found.append(Deviation(name, "changed", detail))
    extra = [name for name in stored.files if name not in head.files and name not in outside]
    found += [Deviation(name, "extra") for name in (*extra, *stored.foreign)]
    return found


def _refuse_deviations(stored: StoredFiles, found: list[Deviation]) -> None:
    for each in found:
        if each.how == "missing":
            raise NotFoundError(
                f"{stored.path} has no {each.file}, which its {HEAD} lists: get the bundle anew"
            )
    if found:
        told = "; ".join(f"{each.file} is {each.how}" for each in found)
        raise StoredConfigError(
            f"{stored.path} does not hold what was stored: {told}: it was edited or damaged "
            "(`memgene genome verify` tells more)"
        )
