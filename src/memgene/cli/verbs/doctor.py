"""memgene doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgene.cli import options, output
from memgene.cli.app import FAILED

if TYPE_CHECKING:
    from memgene.api.health import Health
    from memgene.api.model_health import ModelHealth

NoCalls = Annotated[bool, typer.Option("--no-calls", help="Load the language models, call none.")]


def doctor(
    data: options.Data = None, no_calls: NoCalls = False, json: options.Json = False
) -> None:
    """Say what is here, what is missing, and what that means."""
    from memgene.api import doctor as examine

    health = examine(data, calls=not no_calls)
    if json:
        output.json_line(health.model_dump())
    else:
        absent = [name for name, there in health.extras.items() if not there]
        here = [name for name, there in health.data.items() if there]
        rows = [
            ("python", health.python),
            ("platform", health.platform),
            ("cores", str(health.cores)),
            ("packages", ", ".join(f"{n} {v}" for n, v in health.packages.items())),
            ("sqlite", health.sqlite),
            ("full text", "yes" if health.full_text else "no"),
            ("trigrams", "yes" if health.trigrams else "no"),
            ("embedder", health.embedder),
            ("minilm", "weights are here" if health.minilm else "no weights installed"),
            ("extras", ", ".join(n for n, there in health.extras.items() if there) or "none"),
            ("not there", ", ".join(f"memgene[{name}]" for name in absent) or "nothing"),
            ("data", ", ".join(here) or "none (give --data, or set MEMGENE_DATA)"),
        ]
        rows += [("model", _model(model)) for model in health.models]
        rows.append(("sandbox", _sandbox(health)))
        rows += [("", f"{name}: {said}") for name, said in health.sandbox_parts.items()]
        for name, value in rows:
            output.say(f"{name:<10} {value}".rstrip())
        for problem in health.problems:
            output.say(f"problem    {problem}")
    if not health.ok:
        raise typer.Exit(FAILED)


def _sandbox(health: Health) -> str:
    """How well memory programs are isolated here, and what that means where it is not full."""
    if health.sandbox == "full":
        return "full"
    if health.sandbox == "none":
        return "none: memory programs cannot run here"
    return (
        f"{health.sandbox}, below full: memory programs run here only where that is asked for "
        f"(--sandbox {health.sandbox})"
    )


def _model(model: ModelHealth) -> str:
    """One language model in a line: its name, its roles, how it took the call."""
    roles = ", ".join(model.roles)
    if model.state == "offline":
        return f"offline ({roles})"
    return f"{model.name} ({roles}): {model.state}, {model.seconds:.1f} s"
