"""What each guard of extraction is worth, on one conversation.

    python benchmarks/extraction.py --data PATH --group conv-26 --model local/PATH --sessions 6

Each row extracts the facts of the same sessions with one guard taken away, and asks the questions
whose evidence lies in them. "told" is the share of the names, numbers and dates of the
conversation that some fact mentions ("stored": or a turn that was kept); "lost" are turns that say
something and that nothing stored stands for; "never stored" is the share of the gold evidence that
no unit stands for. The first row stores the turns as they are, without a model.

Replies are cached in a file, so equal calls of two rows are paid once, and a script that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common import (
    RECALL,
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

from memgene.agents.offline import OfflineAgent
from memgene.core import Episode, Filled
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.extraction import ExtractionReport, Guards
from memgene.engine.extraction.coverage import share_told
from memgene.engine.extraction.turns import turns_of
from memgene.engine.models import EngineModels
from memgene.evaluation import Case, evaluate_cases, mean_interval
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.settings.model import LLMRoles, LLMSettings
from memgene.tasks.part import counted, subset
from memgene.tasks.task import Task

F1 = "token_f1"
ALL, NONE, TURNS = "all guards", "no guards", "turns, no model"


@dataclass(frozen=True, slots=True)
class Row:
    """One way to extract, and what came of it."""

    report: ExtractionReport
    units: int
    told: float
    stored: float
    cases: tuple[Case, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As the JSON line has it."""
        return {
            **self.report.to_dict(),
            "units": self.units,
            "told": round(100 * self.told, 2),
            "stored": round(100 * self.stored, 2),
            "never_stored": points(_never_stored(self.cases)),
            RECALL: points(interval_of(self.cases, RECALL)),
            F1: points(interval_of(self.cases, F1)),
            "seconds": round(self.seconds, 1),
        }


def main() -> None:
    options = _options()
    task = _part(read_task(options.task, options.data), options.group, options.sessions)
    models = RoleModels(_settings(options))
    rows: dict[str, Row] = {}
    with models:
        engine = EngineModels(extract=models.need("extract", "this benchmark"))
        for name, config, guards in _variants(options.modes, _sizes(options)):
            rows[name] = _row(task, name, config, guards, engine, options.embedder)
    base = rows[ALL]
    table(
        f"{options.group}, {len(task.episodes)} sessions, {len(task.questions)} questions, "
        f"{options.model}",
        ("row", "facts", "kept", "lost", "refused", "calls", "fresh", "told", "stored"),
        [_counts(name, row) for name, row in rows.items()],
    )
    table(
        "questions",
        ("row", "never stored", RECALL, F1, f"{F1} − all guards"),
        [_scores(name, row, base) for name, row in rows.items()],
    )
    finish(
        "extraction",
        {
            "group": options.group,
            "sessions": len(task.episodes),
            "questions": len(task.questions),
            "model": options.model,
            "rows": {name: row.to_json() for name, row in rows.items()},
        },
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="locomo")
    parser.add_argument("--group", required=True, help="one conversation")
    parser.add_argument("--model", required=True, help="as in memgene.toml, e.g. local/PATH")
    parser.add_argument("--base-url", help="of an OpenAI-compatible server")
    parser.add_argument("--context", type=int, help="tokens of a local model")
    parser.add_argument("--sessions", type=int, help="the first so many only")
    parser.add_argument("--cache", default="extraction-replies.sqlite", help="file of replies")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--window", type=int, help="turns shown at once (default: the lever's)")
    parser.add_argument(
        "--tail",
        type=int,
        help="earlier facts shown with them; with 0 most calls are the same in all rows",
    )
    parser.add_argument(
        "--modes",
        default="all,each,none",
        help="rows: all, each (guards one by one) or names of guards, none, both (turns and facts)",
    )
    add_data_option(parser)
    return parser.parse_args()


def _settings(options: argparse.Namespace) -> LLMRoles:
    section: dict[str, Any] = {"model": options.model}
    if options.base_url:
        section["base_url"] = options.base_url
    if options.context:
        section["context"] = options.context
    return LLMRoles(task=LLMSettings(**section), cache=options.cache)


def _part(task: Task, group: str, sessions: int | None) -> Task:
    """The first sessions of a conversation, and the questions whose evidence lies in them."""
    task = subset(task, groups=[group])
    episodes = task.episodes[:sessions]
    held = {ref for e in episodes for ref in (e.id, *(m.id for m in e.messages))}
    asked = tuple(
        q
        for q in counted(task)
        if q.gold.evidence and q.gold.unusable is None and held.issuperset(q.gold.evidence)
    )
    return replace(task, episodes=episodes, questions=asked)


def _sizes(options: argparse.Namespace) -> RetrievalConfig:
    """The default configuration with the sizes asked for."""
    sizes = {"extraction_window": options.window, "extraction_tail": options.tail}
    return RetrievalConfig().changed(**{k: v for k, v in sizes.items() if v is not None})


def _variants(modes: str, config: RetrievalConfig) -> list[tuple[str, RetrievalConfig, Guards]]:
    """Rows in the order in which they are made: the later ones share calls with the first."""
    wanted = modes.split(",")
    facts, everything = config.changed(extraction="facts"), Guards()
    rows = [(TURNS, config, everything), (ALL, facts, everything)]
    chosen = [n for n in Guards.names() if "each" in wanted or n in wanted]
    rows += [(f"without {n}", facts, everything.without(n)) for n in chosen]
    if "none" in wanted:
        rows.append((NONE, facts, Guards.none()))
    if "both" in wanted:
        rows.append(("turns and facts", config.changed(extraction="both"), everything))
    return rows


class _Written(BankHarness):
    """A memory that is written already."""

    def write(self, item: Filled, episode: Episode) -> None:
        """Nothing."""


def _row(
    task: Task,
    name: str,
    config: RetrievalConfig,
    guards: Guards,
    models: EngineModels,
    embedder: str,
) -> Row:
    loaded = load_embedder(embedder)
    factory = BankHarnessFactory(config, loaded, word_vectors(), name, models, guards)
    started = time.perf_counter()
    harness = factory()
    try:
        for number, episode in enumerate(task.episodes, 1):
            harness.write(Filled(harness.item_schema, {}), episode)
            done = harness.extraction
            note(
                f"{name}: session {number} of {len(task.episodes)}, {done.facts} facts, "
                f"{done.calls} calls, {done.fresh} fresh, {time.perf_counter() - started:.0f} s"
            )
        seconds = time.perf_counter() - started
        cases = evaluate_cases(
            task,
            lambda: _Written(name, harness.engine, owns_bank=False),
            OfflineAgent(),
            metrics=[RECALL, F1],
        )
        units = list(harness.engine.bank.scan(None))
        turns = [turn for episode in task.episodes for turn in turns_of(episode)]
        facts = [unit for unit in units if unit.speaker is None or unit.type != "episodic"]
        return Row(
            harness.extraction,
            len(units),
            share_told(turns, facts),
            share_told(turns, units),
            tuple(cases),
            seconds,
        )
    finally:
        harness.close()


def _never_stored(cases: Sequence[Case]) -> Any:
    missing = [(1 - c.bank_evidence, c.group) for c in cases if c.bank_evidence is not None]
    return mean_interval([value for value, _ in missing], [group for _, group in missing])


def _counts(name: str, row: Row) -> tuple[str, ...]:
    told: Mapping[str, int] = row.report.to_dict()
    counts = [told[what] for what in ("facts", "kept", "lost", "refused", "calls", "fresh")]
    return (name, *map(str, counts), f"{100 * row.told:.1f}", f"{100 * row.stored:.1f}")


def _scores(name: str, row: Row, base: Row) -> tuple[str, ...]:
    against = difference(row.cases, base.cases, F1)
    return (
        name,
        cell(_never_stored(row.cases)),
        cell(interval_of(row.cases, RECALL)),
        cell(interval_of(row.cases, F1)),
        "" if row is base else cell(against, signed=True),
    )


if __name__ == "__main__":
    main()
