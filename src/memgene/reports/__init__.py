"""A run as one self-contained HTML page and a Markdown table."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_report"]


def write_report(run: str | Path) -> Path:
    """Write `report.html` and `report.md` into a run folder; returns the page's path.

    Works for runs with folds and for runs that are not finished. Raises RunError when the folder
    is no run folder or cannot be written to.
    """
    from memgene.core import RunError
    from memgene.reports.load import load_view
    from memgene.reports.markdown import markdown
    from memgene.reports.page import page

    folder = Path(run)
    view = load_view(folder)
    target = folder / "report.html"
    try:
        (folder / "report.md").write_text(markdown(view), encoding="utf-8")
        target.write_text(page(view), encoding="utf-8")
    except OSError as error:
        told = error.strerror or error
        raise RunError(f"the report cannot be written to {folder}: {told}") from error
    return target
