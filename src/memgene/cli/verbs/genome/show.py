"""memgene genome show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgene.cli import options, output
from memgene.cli.output import printable
from memgene.cli.verbs.genome.paths import Bundle

if TYPE_CHECKING:
    from memgene.api import GenomeDescription

_SHOWN = 100  # characters of an instruction; --json tells all


def show(path: Bundle, json: options.Json = False) -> None:
    """Show a genome: where it came from, its scores, what it changes, its parts. Runs nothing."""
    from memgene.api import describe_genome

    genome = describe_genome(path)
    if json:
        output.json_line(genome.model_dump())
    else:
        _show(genome)


def _show(genome: GenomeDescription) -> None:
    for name, value in genome.facts().items():
        output.say(f"{printable(name):<24} {printable(value)}")
    output.say()
    _table(("lever", "default", "here"), genome.changed_rows())
    _table(("stage", "kind", "strength", "what it does"), genome.stage_rows())
    _table(("instruction", "text"), [(n, _cut(text)) for n, text in genome.prompts.items()])
    _table(("file", "bytes", "sha256"), genome.file_rows())


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table and a blank line; cells come from a bundle, which anyone may have made."""
    if rows:
        output.table(head, [tuple(map(printable, row)) for row in rows])
        output.say()
