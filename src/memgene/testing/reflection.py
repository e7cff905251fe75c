"""A reflector that needs no model: writes real patches by a script, good ones and broken ones.

What it replies depends on the request alone (the program and the number of the iteration that
stand in it, and the seed), so that a run that is resumed, or asks from several threads, gets the
same replies.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import cycle, islice

from memgene.llm.prompts.reflection import PROGRAM, REPAIR
from memgene.llm.protocol import Finish, Reply, Request


class Edit(StrEnum):
    """What a scripted change touches. Each fits any program that keeps to the contract."""

    LOGIC = "logic"  # what `read` returns: only answers have to be made anew
    RESPONSE = "response"  # INSTRUCTION_RESPONSE: only answers, too
    ALWAYS_ON = "always-on"  # ALWAYS_ON_KNOWLEDGE: only answers, too
    QUERY = "query"  # INSTRUCTION_QUERY: queries and answers
    ITEM = "item"  # INSTRUCTION_KNOWLEDGE_ITEM: everything
    SCHEMA = "schema"  # a field of Query: queries and answers


class Broken(StrEnum):
    """How a first reply can be of no use."""

    PATCH = "patch"  # its context stands nowhere
    TRUNCATED = "truncated"  # it ends at the limit of tokens
    EMPTY = "empty"  # it says nothing
    PROSE = "prose"  # it holds no change
    SYNTAX = "syntax"  # the program does not parse
    IMPORT = "import"  # it imports what it may not
    RAISES = "raises"  # every read raises
    LATE = "late"  # reads after the twentieth raise, which no trial run sees
    TOO_LONG = "too-long"  # every read returns too much
    NO_EFFECT = "no-effect"  # the same program with another comment


OTHERS = (Edit.RESPONSE, Edit.QUERY, Edit.ITEM, Edit.ALWAYS_ON, Edit.SCHEMA)
_FLAW = "# flaw"
_FENCE = re.compile(r"^(`{3,})python\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_ITERATION = re.compile(
    re.escape(PROGRAM.title).replace(re.escape("$iteration"), r"(\d+)"), re.MULTILINE
)
_STRINGS = {
    Edit.RESPONSE: "INSTRUCTION_RESPONSE",
    Edit.ALWAYS_ON: "ALWAYS_ON_KNOWLEDGE",
    Edit.QUERY: "INSTRUCTION_QUERY",
    Edit.ITEM: "INSTRUCTION_KNOWLEDGE_ITEM",
}
_FLAWS = {
    Broken.SYNTAX: f"this is no statement {_FLAW}",
    Broken.IMPORT: f"import os {_FLAW}",
    Broken.NO_EFFECT: "# nothing but a comment",
}
_READ_FLAWS = {
    Broken.RAISES: (f'raise ValueError("a scripted flaw") {_FLAW}',),
    Broken.LATE: (
        f'self.flaw_reads = getattr(self, "flaw_reads", 0) + 1 {_FLAW}',
        f"assert self.flaw_reads <= 20 {_FLAW}",
    ),
    Broken.TOO_LONG: (f'return "x" * 1000000 {_FLAW}',),
}


def edits(count: int, logic_share: float = 0.5, others: Sequence[Edit] = OTHERS) -> list[Edit]:
    """So many edits of which that share is logic-only, evenly spread; the rest take turns."""
    if not 0 <= logic_share <= 1:
        raise ValueError(f"logic_share must lie between 0 and 1, got {logic_share}")
    turns = cycle(others)
    return [
        Edit.LOGIC if int((n + 1) * logic_share) > int(n * logic_share) else next(turns)
        for n in range(count)
    ]


def scripted_patches(
    logic_share: float = 0.5,
    *,
    script: Sequence[Edit] | None = None,
    broken: Mapping[int, Broken] | None = None,
    repairs: bool = True,
    period: int = 20,
) -> Callable[[Request], Reply]:
    """Replies for a ScriptedLLM in the role of the reflector.

    Args:
        logic_share: of the iterations that change only what `read` returns; exact over `period`.
        script: the edits of iterations 1, 2, …, begun anew at its end, in place of `logic_share`.
        broken: by iteration, how the first reply to it fails; asked again, the reply is good.
        repairs: whether broken programs are mended; otherwise the repair keeps the flaw.
    """
    plan = list(edits(period, logic_share) if script is None else script)
    flaws = dict(broken or {})

    def reply(request: Request) -> Reply:
        text = "\n".join(m.content for m in request.messages if m.role == "user")
        source = _program_in(text)
        if request.messages[0].content.startswith(_opening(REPAIR.system)):
            return _counted(request, _repair(source, repairs))
        number = _iteration_in(text)
        edit = plan[(number - 1) % len(plan)]
        again = any(m.role == "assistant" for m in request.messages)
        flaw = None if again else flaws.get(number)
        return _counted(request, _reply(source, edit, f"{number}.{request.seed}", flaw))

    return reply


def v4a(before: str, after: str) -> str:
    """The V4A patch that makes one text of the other."""
    old, new = before.splitlines(), after.splitlines()
    lines = islice(difflib.unified_diff(old, new, lineterm="", n=3), 2, None)
    hunks = ["@@" if line.startswith("@@") else line for line in lines]
    body = "\n".join(hunks)
    return f"*** Begin Patch\n*** Update File: program.py\n{body}\n*** End Patch"


def edited(source: str, edit: Edit, tag: str) -> str:
    """The program with a small change that no other tag makes."""
    if edit is Edit.LOGIC:
        return _with_read(source, tag)
    if edit is Edit.SCHEMA:
        name = "extra_" + re.sub(r"\W", "_", tag)
        return _inserted(source, _end_of("Query", source), [f'    {name}: str = ""'])
    name = _STRINGS[edit]
    statement = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    words = f"{ast.literal_eval(statement.value)} Be brief (variant {tag}).".strip()
    assert statement.end_lineno is not None
    lines = source.splitlines()
    lines[statement.lineno - 1 : statement.end_lineno] = [f"{name} = {words!r}"]
    return "\n".join(lines) + "\n"


def flawed(source: str, flaw: Broken) -> str:
    """The program with a flaw that a repair finds again."""
    if flaw in _FLAWS:
        return _inserted(source, _first_class(source), [_FLAWS[flaw], ""])
    body = _method(source, "read").body[0].lineno - 1
    return _inserted(source, body, [f"        {line}" for line in _READ_FLAWS[flaw]])


def _reply(source: str, edit: Edit, tag: str, flaw: Broken | None) -> Reply:
    if flaw is Broken.EMPTY:
        return Reply("")
    if flaw is Broken.PROSE:
        return Reply("The program should keep more of what was said.")
    if flaw is Broken.NO_EFFECT:
        return Reply(_message(edit, tag) + v4a(source, flawed(source, flaw)))
    after = edited(source, edit, tag)
    if flaw in _FLAWS or flaw in _READ_FLAWS:
        assert flaw is not None
        after = flawed(after, flaw)
    text = _message(edit, tag) + v4a(source, after)
    if flaw is Broken.TRUNCATED:
        return Reply(text[: len(text) * 2 // 3], Finish.LENGTH)
    if flaw is Broken.PATCH:
        return Reply(re.sub(r"^([ -])(.*\w)", r"\1\2 qqq", text, flags=re.MULTILINE))
    return Reply(text)


def _message(edit: Edit, tag: str) -> str:
    return (
        f"The cases fail for a scripted reason.\n\n*** Commit Message\nTitle: {edit} {tag}\n"
        f"- Cause: the script says {edit}\n- Change: variant {tag}\n\n"
    )


def _repair(source: str, repairs: bool) -> Reply:
    """The flawed lines taken out; or, where nothing is repaired, one comment more."""
    kept = [line for line in source.splitlines() if _FLAW not in line]
    after = "\n".join(kept) + "\n" if repairs else source + "# still broken\n"
    message = "A flaw.\n\n*** Commit Message\nTitle: repair\n- Cause: a flaw\n- Change: gone\n\n"
    return Reply(message + v4a(source, after))


def _with_read(source: str, tag: str) -> str:
    """`read` becomes a helper, and a new one marks what it returns: other text, nothing else."""
    method = _method(source, "read")
    inner = "_read_" + re.sub(r"\W", "_", tag)
    lines = source.splitlines()
    at = method.lineno - 1
    lines[at] = lines[at].replace("def read(", f"def {inner}(", 1)
    wrapper = [
        "    def read(self, query: Query) -> str:",
        f'        return ("({tag})\\n" + self.{inner}(query))[:3000]',
        "",
    ]
    return "\n".join([*lines[:at], *wrapper, *lines[at:]]) + "\n"


def _class(source: str, name: str) -> ast.ClassDef:
    found: Iterable[ast.stmt] = ast.parse(source).body
    return next(n for n in found if isinstance(n, ast.ClassDef) and n.name == name)


def _method(source: str, name: str) -> ast.FunctionDef:
    body = _class(source, "KnowledgeBase").body
    return next(n for n in body if isinstance(n, ast.FunctionDef) and n.name == name)


def _end_of(name: str, source: str) -> int:
    end = _class(source, name).end_lineno
    assert end is not None
    return end


def _first_class(source: str) -> int:
    """The line, from 0, that the first class or its first decorator stands on."""
    first = next(n for n in ast.parse(source).body if isinstance(n, ast.ClassDef))
    return min([first.lineno, *(d.lineno for d in first.decorator_list)]) - 1


def _inserted(source: str, at: int, lines: Sequence[str]) -> str:
    old = source.splitlines()
    return "\n".join([*old[:at], *lines, *old[at:]]) + "\n"


def _program_in(text: str) -> str:
    found = _FENCE.search(text)
    if found is None:
        raise AssertionError("the request shows no program")
    return found[2]


def _iteration_in(text: str) -> int:
    found = _ITERATION.search(text)
    if found is None:
        raise AssertionError("the request names no iteration")
    return int(found[1])


def _opening(text: str) -> str:
    return text.split(".", 1)[0]


def _counted(request: Request, reply: Reply) -> Reply:
    """The reply with tokens as a provider would count them, so that budgets have work to do."""
    said = sum(len(m.content) for m in request.messages)
    return Reply(reply.text, reply.finish, said // 4, len(reply.text) // 4)
