"""The application object and how its failures end: one line on stderr, and an exit code."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from memgene.core.errors import MemgeneError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Verbs(TyperGroup):
    """Turns a failure inside a verb into one clear line; what is no MemgeneError is a bug."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except MemgeneError as error:
            typer.echo(f"memgene: {error}", err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as interruption:
            typer.echo("memgene: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from interruption


def make_app(help_text: str) -> typer.Typer:
    """An application or a group of verbs, plain help, no shell completion commands."""
    return typer.Typer(
        cls=Verbs,
        help=help_text,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
