"""The page docs/cli.md, written from what every verb declares."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

_HEAD = """# Command line

Written from the command line itself by `python -m memgene.cli.docs`.

Every verb has `--json`: then the last line of stdout is one JSON object. Long work shows a
progress bar on stderr when that is a terminal.

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed: something is absent, damaged or refused; one line on stderr says what |
| 2 | wrong usage: a verb, option or value that cannot be used, such as an unknown split, harness, \
agent or budget limit |
| 130 | interrupted |

A wrong value in `memgene.toml`, a `MEMGENE_*` variable or a genome is a failure (1), not usage.
"""


def cli_page() -> str:
    """The text of docs/cli.md."""
    from memgene.cli.main import build

    return _HEAD + "".join(_section(name, verb) for name, verb in verbs(build()))


def verbs(app: typer.Typer) -> Iterator[tuple[str, Any]]:
    """Every verb by its full name, in the order of the help."""
    yield from _below(typer.main.get_command(app), "memgene")


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, verb in inner.items():
        yield from _below(verb, f"{name} {word}")


def _section(name: str, verb: Any) -> str:
    arguments = [p for p in verb.params if p.param_type_name == "argument"]
    options = [p for p in verb.params if p.param_type_name == "option" and p.help]
    usage = " ".join([name, *(_usage(a) for a in arguments), "[OPTIONS]"])
    lines = [f"\n## {name}\n", inspect.cleandoc(verb.help), f"\n```text\n{usage}\n```\n"]
    lines += [f"- `{a.metavar}`: {a.help}" for a in arguments]
    lines += [f"- `{_flag(o)}`: {o.help}{_default(o)}" for o in options]
    return "\n".join(lines) + "\n"


def _usage(argument: Any) -> str:
    word: str = f"{argument.metavar}..." if argument.nargs == -1 else argument.metavar
    return word if argument.required else f"[{word}]"


def _flag(option: Any) -> str:
    words = ", ".join(option.opts)
    return f"{words} {option.metavar}" if option.metavar else words


def _default(option: Any) -> str:
    if option.required:
        return " Required."
    if option.is_flag or option.default in (None, (), []):
        return ""
    return f" Default: {option.default}."


if __name__ == "__main__":
    typer.echo(cli_page(), nl=False)
