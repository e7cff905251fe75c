"""What verbs print: one JSON object, or text for people. Nothing else goes to stdout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from memgene.cli.app import INTERRUPTED

if TYPE_CHECKING:
    from memgene.api import EvolutionRun, Lessons, MemoryPage, MemoryRecord
    from memgene.core import Why
    from memgene.evaluation.report import EvaluationReport, Table
    from memgene.reports.coevolve_comparing import LearningChange
    from memgene.reports.comparing import CandidateDiff
    from memgene.reports.lineage import LineageView
    from memgene.reports.node import Node
    from memgene.reports.runs import RunsView


_MOVED = 8  # questions shown that gained, and that lost


def say(text: str = "") -> None:
    """A line for people."""
    typer.echo(text)


def warn(text: str) -> None:
    """Print a line a person should see beside the result."""
    typer.echo(f"memgene: {text}", err=True)


def json_line(value: Mapping[str, Any]) -> None:
    """The one object `--json` promises, on one line."""
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right_from: int = 99) -> None:
    """Aligned columns; those from `right_from` on are numbers."""
    if not rows:
        return
    for line in _lines(head, rows, right_from):
        say(line)


def wide_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of numbers, turned on its side where it is wider than the screen."""
    upright = _lines(head, rows, 1)
    width = shutil.get_terminal_size((120, 24)).columns
    if max(map(len, upright)) > width and len(rows) < len(head):
        turned = list(zip(head, *rows, strict=True))
        upright = _lines(turned[0], turned[1:], 1)
    for line in upright:
        say(line)


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]], right_from: int) -> list[str]:
    widths = [max(len(str(line[place])) for line in (head, *rows)) for place in range(len(head))]
    rule = ["─" * width for width in widths]
    lines = []
    for line in (head, rule, *rows):
        cells = [
            str(cell).rjust(width) if place >= right_from else str(cell).ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def reasons(why: Why) -> str:
    """`view #rank (score)` per view that found it, then the factors that moved it, and how much
    each route counted where a router weighed them."""
    parts = [
        f"{name} #{view.rank} ({view.score:.2f})"
        for name, view in why.views.items()
        if view.rank is not None
    ]
    parts += [f"{name} {value:+.2f}" for name, value in why.factors.items() if value]
    parts += [f"{name} ×{weight:.2f}" for name, weight in why.weights.items()]
    return ", ".join(parts)


def record(one: MemoryRecord) -> None:
    """One memory, its empty parts left out."""
    for name, value in one.model_dump().items():
        if value not in (None, {}, ""):
            say(f"{name:<11} {value}")


def records(page: MemoryPage) -> None:
    """A page of memories, and how to see the next."""
    rows = [(m.id, m.user_id or "–", m.status, m.text.replace("\n", " ")[:100]) for m in page]
    table(("id", "user", "status", "text"), rows)
    if page.next is not None:
        say(f"more: --after {page.next}")


def lessons(found: Lessons, as_json: bool) -> None:
    """Lessons, newest first: a line each, or one object."""
    if as_json:
        json_line(found.model_dump())
        return
    for one in found:
        state = "  taken back" if one.undone else ""
        moment = one.time.isoformat(timespec="seconds")
        say(f"lesson {one.number:>4}  {moment}  {one.kind:<8}  {one.rows} changes{state}")


def evaluation(report: EvaluationReport, category_metric: str | None = None) -> None:
    """A report's tables, percent with 95 % intervals."""
    tables = [report.table(), report.text_table(), report.agreement_table()]
    if category_metric is not None:
        tables.append(report.category_table(category_metric))
    for one in filter(None, tables):
        say(f"{one.title} (percent, 95 % intervals)")
        wide_table(one.header, one.rows)
        for note in one.notes:
            say(note)
        say()


def titled(one: Table) -> None:
    """A table with its title and notes."""
    say(f"{one.title} (percent)")
    wide_table(one.header, one.rows)
    for note in one.notes:
        say(note)


def scores(report: EvaluationReport, metrics: Sequence[str]) -> None:
    """One row per memory with a few metrics, percent with 95 % intervals."""
    from memgene.reports.numbers import interval, points

    rows = []
    for harness in report.harnesses:
        found = [harness.metrics.get(name) for name in metrics]
        cells = [f"{points(f.mean)} {interval(f.low, f.high)}" if f else "–" for f in found]
        rows.append((harness.name, *cells))
    table(("memory", *metrics), rows, 1)
    say()


@contextmanager
def finishing_on_interrupt() -> Iterator[None]:
    """A run that was stopped by Ctrl-C after a whole round ends with its message and code 130."""
    from memgene.evolution.interrupt import RunInterruptedError

    try:
        yield
    except RunInterruptedError as stopped:
        typer.echo(f"memgene: {stopped}", err=True)
        raise typer.Exit(INTERRUPTED) from stopped


def evolution(run: EvolutionRun) -> None:
    """Held-out scores and paired differences of a finished run, and where its parts are."""
    rows = run.rows()
    say(f"{run.metric} on {run.questions} held-out questions (percent, 95 % intervals)")
    table(("memory", run.metric, "evolved minus it"), rows)
    say()
    say(f"best genome  {run.best}")
    say(f"report       {run.report}")
    if run.caution:
        say(f"sandbox      {run.caution}")


def lineage(view: LineageView) -> None:
    """The candidates of a run as a tree; one tree a fold."""
    if view.folds:
        for fold in view.folds:
            lineage(fold)
            say()
        return
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from memgene.reports.order import in_tree_order

    state = "" if view.finished else ", not finished"
    root = Tree(Text(printable(f"{view.run}: {view.strategy} evolution by {view.metric}{state}")))
    branches = [root]
    for node, depth in in_tree_order(view.nodes):
        label = Text(_standing(node, view), style="bold" if node.id == view.best else "")
        label.append("".join(f"\n{line}" for line in _rejections(node)), style="not bold dim")
        del branches[depth + 1 :]
        branches.append(branches[-1].add(label))
    # Text, not markup: titles are written by models. The width is that of other tables.
    width = shutil.get_terminal_size((120, 24)).columns
    Console(width=width, highlight=False).print(root)
    if not view.nodes:
        say("no candidate yet")


def _standing(node: Node, view: LineageView) -> str:
    """A candidate in a line: score and distance to its parent in points, marks, title."""
    from memgene.reports.node import Status
    from memgene.reports.numbers import points, signed

    parts = [node.id]
    if node.score is not None:
        parts.append(points(node.score))
    if node.delta is not None:
        parts.append(f"({signed(node.delta)})")
    if node.id == view.best:
        parts.append("★ promoted" if view.promoted else "★ best so far")
    elif node.status in (Status.SEED, Status.REFUSED, Status.PENDING):
        parts.append(str(node.status))
    parts += ["regressed"] if node.regressed else []
    questions = "question" if node.failures == 1 else "questions"
    parts += [f"broke on {node.failures} {questions}"] if node.failures else []
    parts += [f"{node.attempts} drafts"] if node.attempts > 1 else []
    return " ".join([*parts, "·", printable(node.title) or "(without a title)"])


def _rejections(node: Node) -> list[str]:
    return [printable(f"{each.stage}: {each.reason}") for each in node.rejections]


def difference(found: CandidateDiff) -> None:
    """Titles and scores of two candidates, what moved, and their difference as text."""
    from memgene.reports.numbers import interval, points, probability, signed, value

    rows = [
        (name, points(node.score), str(node.status), printable(node.title))
        for name, node in zip(found.names, (found.a, found.b), strict=True)
    ]
    table(("candidate", found.metric, "status", "title"), rows)
    say()
    moves = [
        (
            one.split,
            str(one.n),
            points(one.a),
            points(one.b),
            f"{signed(one.delta)} {interval(one.low, one.high)}",
            probability(one.p),
            f"{one.gains} gained, {one.losses} lost, {one.equal} equal",
        )
        for one in found.splits
    ]
    head = ("questions", "n", *found.names, "difference, 95 % interval", "p", "")
    table(head, moves)
    if not moves:
        say("no question was asked of both")
    say()
    _moved_most(found)
    table(("lever", *found.names), [(c.lever, value(c.a), value(c.b)) for c in found.levers])
    if found.learning is not None:
        _learned(found.learning, found.names)
    for line in found.patch.splitlines():
        say(printable(line, keep=" \t"))
    if not found.patch and not found.levers and not (found.learning and found.learning.changed):
        say("the two are equal")


def _learned(found: LearningChange, names: tuple[str, str]) -> None:
    """Weights of the routes and values of two states of a co-evolution."""
    routes = list(found.weights[0].before) if found.weights else []
    rows = [
        (
            row.question_type or "all",
            str(row.n),
            *(f"{row.before[r]:.2f} → {row.after[r]:.2f}" for r in routes),
        )
        for row in found.weights
    ]
    table(("mean weights by question type", "n", *routes), rows, 1)
    values = found.values
    if values is None:
        say("values: a state's memory.jsonl is not there")
        return
    counts = [
        ("memories with a value", *map(str, values.known)),
        ("values for one kind of query", *map(str, values.by_kind)),
        ("distilled memories", *map(str, values.distilled)),
        ("retired memories", *map(str, values.retired)),
    ]
    table(("learned", *names), counts, 1)
    say(f"{values.moved} mean values differ, by {values.mean_move:.3f} on average")
    moves = [
        (m.unit_id, *("–" if q is None else f"{q:.3f}" for q in (m.a, m.b)), f"{m.delta:+.3f}")
        for m in values.largest
    ]
    table(("memory", *names, "change"), moves, 1)


def _moved_most(found: CandidateDiff) -> None:
    """Questions that gained and lost most."""
    from memgene.reports.numbers import points, signed

    gained = sorted((q for q in found.questions if q.delta > 0), key=lambda q: -q.delta)
    lost = sorted((q for q in found.questions if q.delta < 0), key=lambda q: q.delta)
    shown = [*gained[:_MOVED], *lost[:_MOVED]]
    rows = [(q.id, q.split, points(q.a), points(q.b), signed(q.delta)) for q in shown]
    table(("question", "split", *found.names, "change"), rows, 2)
    left = len(gained) + len(lost) - len(shown)
    if left:
        say(f"{left} more moved; --json tells all")
    if rows:
        say()


def runs(found: RunsView) -> None:
    """Runs as a table, and their evolved memories against that of the first."""
    from memgene.reports.numbers import interval, points, probability, signed

    rows = []
    for row in found.rows:
        score, gain = row.evolved, row.gain
        rows.append(
            (
                row.name,
                row.task,
                row.strategy,
                row.metric,
                points(row.start.mean if row.start else None),
                f"{points(score.mean)} {interval(score.low, score.high)}" if score else "–",
                f"{signed(gain.delta)} {interval(gain.low, gain.high)}" if gain else "–",
                str(row.evaluations),
                "" if row.finished else "not finished",
            )
        )
    head = ("run", "task", "strategy", "metric", "start", "evolved", "gain", "evaluated", "")
    table(head, rows)
    say()
    moves = [
        (
            d.name,
            str(d.n),
            f"{signed(d.delta)} {interval(d.low, d.high)}",
            probability(d.p),
        )
        for d in found.differences
    ]
    table((f"evolved minus that of {found.rows[0].name}", "questions", "", "p"), moves)
    if found.landscape is not None:
        say()
        counts = found.landscape.storages.items()
        table(("storage architecture", "programs"), [(str(k), str(n)) for k, n in counts], 1)


def printable(text: str, keep: str = "") -> str:
    """Text on one line that a terminal can do nothing with but show it."""
    shown = text if keep else " ".join(text.split())
    return "".join(c if c.isprintable() or c in keep else "�" for c in shown)
