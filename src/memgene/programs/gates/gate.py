"""Every gate in turn, and findings as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memgene.programs.gates.finding import Finding
from memgene.programs.gates.smoke import check_smoke
from memgene.programs.gates.static import check_static

if TYPE_CHECKING:
    from memgene.programs.program import Program
    from memgene.programs.runtime import ProgramRuntime

_MOST_CHARACTERS = 6000


def check(program: Program, runtime: ProgramRuntime) -> tuple[Finding, ...]:
    """Findings of the static gate, or, where it has none, of a trial in the sandbox."""
    return check_static(program.source) or check_smoke(program, runtime)


def render_findings(findings: Iterable[Finding]) -> str:
    """Findings as a numbered list for whoever must mend the program, cut to about 6,000
    characters: those that do not fit are counted."""
    entries = list(findings)
    parts: list[str] = []
    used = 0
    for number, finding in enumerate(entries, 1):
        place = f"line {finding.line}: " if finding.line else ""
        detail = "".join(f"\n   {line}" for line in finding.detail.splitlines())
        entry = f"{number}. [{finding.code}] {place}{finding.message}{detail}"
        if parts and used + len(entry) > _MOST_CHARACTERS:
            parts.append(f"({len(entries) - len(parts)} more findings)")
            break
        parts.append(entry)
        used += len(entry)
    return "\n".join(parts)
