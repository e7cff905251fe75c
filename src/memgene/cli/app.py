"""The application object and how its failures end: one line on stderr, and an exit code.

Code 2 says that the command line is at fault: an argument that cannot be used (InputError), unless
it was read from a file or the environment (StoredConfigError). Every other failure is code 1.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from memgene.core.errors import InputError, MemgeneError, StoredConfigError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Verbs(TyperGroup):
    """Turns a failure inside a verb into one clear line.

    What is no MemgeneError, and no file that the system refuses, is a bug and keeps its trace.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except MemgeneError as error:
            typer.echo(f"memgene: {error}", err=True)
            raise typer.Exit(exit_code(error)) from error
        except OSError as error:
            if error.filename is None or isinstance(error, BrokenPipeError):
                raise
            typer.echo(f"memgene: {error.filename}: {error.strerror}", err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as interruption:
            typer.echo("memgene: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from interruption


def program() -> list[str]:
    """The words that start this installation's memgene again, from the current folder."""
    started = Path(sys.argv[0])
    if started.stem != "memgene" or not started.is_file():
        return [sys.executable, "-m", "memgene.cli"]
    known = shutil.which("memgene")
    return ["memgene"] if known and started.samefile(known) else [str(started)]


def exit_code(error: MemgeneError) -> int:
    """Whether the command line is to blame."""
    blamed = isinstance(error, InputError) and not isinstance(error, StoredConfigError)
    return USAGE if blamed else FAILED


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
