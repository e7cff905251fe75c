"""memgene doctor."""

from __future__ import annotations

import typer

from memgene.cli import options, output
from memgene.cli.app import FAILED


def doctor(data: options.Data = None, json: options.Json = False) -> None:
    """Say what is here, what is missing, and what that means."""
    from memgene.api import doctor as examine

    health = examine(data)
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
        for name, value in rows:
            output.say(f"{name:<10} {value}")
        for problem in health.problems:
            output.say(f"problem    {problem}")
    if not health.ok:
        raise typer.Exit(FAILED)
