"""What a search costs more with one stage of each kind than with none.

    python benchmarks/stages.py --units 600,10000

`MemoryEngine.retrieve` over a bank in memory with the default configuration, the embedding of the
query included. Each question is asked with every configuration, each beginning in turn, so that all
see the same machine. A stage is a hand-over to another process and back, so that whatever else runs
on the machine weighs on it more than on a search without: beside the median over the questions
stands the least disturbed tenth (p10).
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import finish, table
from dialogue import SCOPE, made

from memgene.bank import open_bank
from memgene.embed import load_embedder
from memgene.engine import MemoryEngine
from memgene.engine.models import EngineModels
from memgene.programs.stage_host import SandboxedStages
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.stages.stage import Stage

WARM_UP = 20
SHARES = {"p10": 10, "p50": 50}
SOURCES = {
    "query": "def queries(question):\n    return [question.lower()]",
    "view": "def candidates(query, units):\n"
    "    words = set(query.lower().split())\n"
    "    scored = [(u['id'], len(words & set(u['text'].lower().split()))) for u in units]\n"
    "    return sorted((s for s in scored if s[1]), key=lambda s: -s[1])[:20]",
    "rescorer": "def scores(query, hits):\n"
    "    words = set(query.lower().split())\n"
    "    return [len(words & set(h['text'].lower().split())) / 10 for h in hits]",
    "filter": "def keep(query, hits):\n"
    "    return [at for at, hit in enumerate(hits) if hit['score'] > 0]",
    "answer": "def instruction(question):\n    return 'Name one.' if 'who' in question else None",
}


def main() -> None:
    options = _options()
    found = {}
    for size in options.units:
        found[size] = measured(size, options.questions)
        base = found[size]["none"]
        rows = [
            [name, *(part for at in SHARES for part in _beside(times[at], base[at]))]
            for name, times in found[size].items()
        ]
        table(f"{size:,} units", ("stage", "p10 ms", "ratio", "p50 ms", "ratio"), rows)
    finish("stages", {"questions": options.questions, "ms": found})


def measured(units: int, questions: int) -> dict[str, dict[str, float]]:
    """Milliseconds of a search, p10 and p50, by the kind of its one stage."""
    corpus = made(units, questions + WARM_UP)
    with open_bank(":memory:") as bank, SandboxedStages() as host:
        plain = MemoryEngine(bank, load_embedder("static"))
        plain.write(corpus.units)
        engines = {"none": plain}
        for kind, body in SOURCES.items():
            stage = Stage(kind, f'KIND = "{kind}"\nABOUT = "measured"\n{body}\n')
            config = RetrievalConfig().with_stage(stage, 1.0)
            engines[kind] = plain.with_config(config, EngineModels(stages=host))
        spent: dict[str, list[float]] = {name: [] for name in engines}
        for number, question in enumerate(corpus.questions):
            # Who asks first computes the signals of the words, which the others take over.
            turn = number % len(engines)
            for name in (*list(engines)[turn:], *list(engines)[:turn]):
                started = time.perf_counter()
                read = engines[name].retrieve(question, SCOPE)
                seconds = time.perf_counter() - started
                assert not read.degraded, read.degraded
                if number >= WARM_UP:
                    spent[name].append(1000 * seconds)
    return {
        name: {at: round(float(np.percentile(times, share)), 3) for at, share in SHARES.items()}
        for name, times in spent.items()
    }


def _beside(milliseconds: float, base: float) -> tuple[str, str]:
    return f"{milliseconds:.2f}", f"{milliseconds / base:.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--units",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[600, 10_000],
        help="sizes of the bank",
    )
    parser.add_argument("--questions", type=int, default=300, help="searches of each configuration")
    return parser.parse_args()


if __name__ == "__main__":
    main()
