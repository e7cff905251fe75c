"""Checks a program must pass before it is evaluated."""

from memgene.programs.gates.finding import Finding
from memgene.programs.gates.gate import check, render_findings
from memgene.programs.gates.smoke import check_smoke
from memgene.programs.gates.static import check_static

__all__ = ["Finding", "check", "check_smoke", "check_static", "render_findings"]
