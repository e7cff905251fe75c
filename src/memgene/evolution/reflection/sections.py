"""Each section of a reflection's material, as Markdown, in as much detail as is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memgene.evolution.reflection.material import (
    LineageEntry,
    Material,
    Reference,
    ShownCase,
    ShownViolation,
    ShownWrite,
)
from memgene.llm.prompts import reflection as words
from memgene.llm.protocol import ChatMessage

_EXPECTED = 5  # more right answers than these say no more
_NOTE = 32  # room for the note on what is left out


@dataclass(frozen=True, slots=True)
class CaseDetail:
    """How many characters of each part of a case are shown, and how many turns of it."""

    question: int
    answer: int
    turn: int
    turns: int


def fenced(text: str, language: str = "") -> str:
    """The text in a Markdown fence that nothing inside can close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and end with a note between them on how much is left out; never
    more than `limit` characters."""
    if len(text) <= limit:
        return text
    kept = limit - _NOTE
    if kept <= 0:
        return text[:limit]
    tail = kept // 3
    note = f" [... {len(text) - kept} characters ...] "
    return f"{text[: kept - tail]}{note}{text[len(text) - tail :]}"


def cleaned(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Half characters, which a program or a model may have written and nobody can be sent, become
    `?`."""
    return tuple(
        ChatMessage(m.role, m.content.encode("utf-8", "replace").decode()) for m in messages
    )


def program(material: Material) -> str:
    """The source, whole."""
    title = words.PROGRAM.title.replace("$iteration", str(material.iteration))
    return _section(title, "", fenced(material.source, "python"))


def score(material: Material) -> str:
    """Score, metric, and what the task says of itself."""
    about = f" ({material.metric_about})" if material.metric_about else ""
    said = f"Mean {material.metric}{about} on questions that are not shown: {material.score:.3f}"
    hints = f"The task: {material.hints}" if material.hints else ""
    return _section(words.SCORE.title, said, hints)


def lineage(entries: Sequence[LineageEntry], current: str, message: int) -> str:
    """Commits with their scores, at most `message` characters of each message."""
    if not entries:
        return ""
    log = "\n".join(_commit(entry, current, message) for entry in entries)
    return _section(words.LINEAGE.title, words.LINEAGE.about, fenced(log))


def writes(examples: Sequence[ShownWrite], limit: int) -> str:
    """Episodes and their items, at most `limit` characters of each."""
    if not examples:
        return ""
    shown = [
        f"Episode:\n{fenced(shortened(example.raw_text, limit))}\n"
        f"Item:\n{fenced(shortened(example.item, limit), 'json')}"
        for example in examples
    ]
    return _section(words.WRITES.title, words.WRITES.about, *shown)


def logs(lines: Sequence[str], limit: int) -> str:
    """Notes of the program, one line each."""
    if not lines:
        return ""
    text = "\n".join(shortened(" ".join(line.split()), limit) for line in lines)
    return _section(words.LOGS.title, words.LOGS.about, fenced(text))


def cases(section: words.Section, shown: Sequence[ShownCase], detail: CaseDetail) -> str:
    """Questions with what was expected, said and scored, and the conversation between."""
    if not shown:
        return ""
    told = [_case(number, case, detail) for number, case in enumerate(shown, start=1)]
    return _section(section.title, section.about, *told)


def references(programs: Sequence[Reference]) -> str:
    """Other programs, whole."""
    if not programs:
        return ""
    shown = [
        f"### {other.id}: {other.score:.3f}, {'better' if other.higher else 'worse'} than this "
        f"program\n{fenced(other.source, 'python')}"
        for other in programs
    ]
    return _section(words.REFERENCES.title, words.REFERENCES.about, *shown)


def violations(found: Sequence[ShownViolation], detail: int) -> str:
    """What failed while the program ran, at most `detail` characters of each traceback."""
    if not found:
        return ""
    shown = [_violation(each, detail) for each in found]
    return _section(words.VIOLATIONS.title, words.VIOLATIONS.about, *shown)


def _section(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *(part for part in parts if part)])


def _commit(entry: LineageEntry, current: str, message: int) -> str:
    marks = [entry.id]
    if entry.id == current:
        marks.append("(the current program)")
    if entry.parent is not None:
        marks.append(f"from {entry.parent}")
    if entry.score is not None:
        marks.append(f"score {entry.score:.3f}")
    if entry.delta is not None:
        marks.append(f"({entry.delta:+.3f})")
    if entry.regressed:
        marks.append("REGRESSION")
    if entry.refused:
        marks.append(f"REFUSED: {shortened(' '.join(entry.refused.split()), 160)}")
    title = entry.title or ("seed" if entry.kind == "seed" else "(no title)")
    lines = [" ".join(marks), f"    {shortened(' '.join(title.split()), 160)}"]
    body = shortened(entry.message.strip(), message) if message else ""
    lines += [f"    {line.strip()}" for line in body.splitlines() if line.strip()]
    return "\n".join(lines)


def _case(number: int, case: ShownCase, detail: CaseDetail) -> str:
    expected = [shortened(text, detail.answer // _EXPECTED) for text in case.expected[:_EXPECTED]]
    lines = [
        f"Question: {shortened(case.question, detail.question)}",
        f"Expected: {' / '.join(expected) or '(nothing: it cannot be answered)'}",
        f"Answered: {shortened(case.answer, detail.answer) or '(nothing)'}",
    ]
    if case.failure:
        lines.append(f"Failure: {shortened(case.failure, detail.answer)}")
    turns = _turns(case.conversation, detail)
    if turns:
        lines += ["", "The conversation:", *turns]
    return f"### Case {number}: score {case.score:.2f}\n{fenced(chr(10).join(lines))}"


def _turns(conversation: Sequence[tuple[str, str]], detail: CaseDetail) -> list[str]:
    """The turns; of a long conversation the first ones and the last ones."""
    told = [f"[{role}] {shortened(text, detail.turn)}" for role, text in conversation]
    if len(told) <= detail.turns:
        return told
    if not detail.turns:
        return []
    head = detail.turns // 2
    tail = detail.turns - head
    return [*told[:head], f"[... {len(told) - detail.turns} turns ...]", *told[-tail:]]


def _violation(found: ShownViolation, detail: int) -> str:
    times = f" ({found.times} times)" if found.times > 1 else ""
    said = f"In `{found.where}`{times}: {shortened(found.message, max(detail, 300))}"
    traceback = found.detail.strip()[-detail:] if detail else ""
    return f"{said}\n{fenced(traceback)}" if traceback else said
