"""A language model as reader: what its answers are worth on the context of several memories.

    python benchmarks/reader.py --data PATH --model local/PATH --limit 100 \
        --rows bm25,hybrid-rrf,genome:RUN/best

Every row answers the same held-out questions from its own context; differences to the first row
are paired. `--agents llm,llm+dates` adds the reader whose relative dates are resolved by rule, and
`offline` the extractive reader. Replies are cached in a file: a script that was stopped goes on
where it was, and a repetition makes no fresh call; the digest of all cases tells whether it gave
the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from common import (
    add_data_option,
    cell,
    difference,
    finish,
    interval_of,
    note,
    points,
    read_task,
    table,
)

from memgene.api import evaluate
from memgene.evaluation import Case
from memgene.evaluation.report import HarnessReport
from memgene.llm.roles import RoleModels
from memgene.settings.model import LLMRoles, LLMSettings

F1 = "token_f1"
Key = tuple[str, str]


def main() -> None:
    options = _options()
    task = read_task(options.task, options.data)
    section: dict[str, Any] = {"model": options.model}
    if options.base_url:
        section["base_url"] = options.base_url
    roles = LLMRoles(task=LLMSettings(**section), cache=options.cache)
    found: dict[Key, HarnessReport] = {}
    started = time.perf_counter()
    with RoleModels(roles) as models:
        for agent in options.agents.split(","):
            report = evaluate(
                task,
                options.rows.split(","),
                agent,
                "test",
                options.limit,
                options.seed,
                max_errors=1.0,
                models=models,
                progress=lambda done, total, label: note(f"{label} {done}/{total}"),
            )
            found |= {(h.name, agent): h for h in report.harnesses}
    base = next(iter(found.values()))
    table(
        f"{options.task}, test, {base.questions} questions, seed {options.seed}, {options.model}",
        ("row", "agent", F1, "− first row", "recall@10", "errors", "calls", "fresh"),
        [_row(key, one, base) for key, one in found.items()],
    )
    _agents(found)
    finish(
        "reader",
        {
            "task": options.task,
            "seed": options.seed,
            "model": options.model,
            "seconds": round(time.perf_counter() - started, 1),
            "rows": {
                f"{name}, {agent}": {
                    F1: points(one.metrics[F1]),
                    "paired": points(difference(one.cases, base.cases, F1)),
                    "errors": one.errors,
                    "cases": digest(one.cases),
                }
                for (name, agent), one in found.items()
            },
        },
    )


def _agents(found: Mapping[Key, HarnessReport]) -> None:
    """Every further agent beside the first one with the same memory, as a whole and by category."""
    first = next(agent for _, agent in found)
    rows = []
    for (name, agent), one in found.items():
        if agent == first:
            continue
        base = found[name, first].cases
        for category in (None, *dict.fromkeys(case.category for case in base)):
            mine, theirs = (
                [c for c in cases if category in (None, c.category)] for cases in (one.cases, base)
            )
            rows.append(
                (
                    name,
                    agent,
                    category or "all",
                    str(len(mine)),
                    cell(interval_of(mine, F1)),
                    cell(difference(mine, theirs, F1), signed=True),
                )
            )
    if rows:
        table(
            f"against the agent {first}",
            ("row", "agent", "category", "questions", F1, "difference"),
            rows,
        )


def digest(cases: Sequence[Case]) -> str:
    """A hash of what was found, answered and scored; not of the time it took."""
    told = [
        [c.question_id, c.context, c.answer, c.abstained, c.error, dict(sorted(c.scores.items()))]
        for c in cases
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _row(key: Key, one: HarnessReport, base: HarnessReport) -> tuple[str, ...]:
    used = one.usage.roles.get("task")
    recall = one.metrics.get("recall@10")
    return (
        *key,
        cell(one.metrics[F1]),
        "" if one is base else cell(difference(one.cases, base.cases, F1), signed=True),
        "" if recall is None else cell(recall),
        str(one.errors),
        str(used.calls if used else 0),
        str(used.fresh if used else 0),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="locomo")
    parser.add_argument("--model", required=True, help="as in memgene.toml, e.g. local/PATH")
    parser.add_argument("--base-url", help="of an OpenAI-compatible server")
    parser.add_argument("--rows", default="bm25,hybrid-rrf,bank", help="memories")
    parser.add_argument("--agents", default="llm", help="llm, llm+dates, offline")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", default="reader-replies.sqlite", help="file of replies")
    add_data_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
