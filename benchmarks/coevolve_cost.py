"""What a training interaction costs when a language model does everything it may do.

    python benchmarks/coevolve_cost.py --data PATH/locomo [--questions 40]

The paper preset on one LoCoMo conversation: SR-QR, answers, attribution, distillation and the check
of edges in time, all asked of a model that replies with the shortest JSON that fits. So the calls
are those of a real model, and the prompts too; replies are shorter, and are not counted. Tokens are
estimated from the text (3 bytes each, schemas included), as budgets do before a call.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from common import finish, note, table

from memgene.agents.registry import make_agent
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import model_check
from memgene.engine.models import EngineModels
from memgene.evolution.coevolve.memories import FactoryMaker
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.evolution.coevolve.training import Training, TrainingTools
from memgene.llm.protocol import Request
from memgene.llm.role import prompt_tokens
from memgene.llm.roles import RoleModels
from memgene.tasks import load_task
from memgene.tasks.part import counted, subset
from memgene.testing.llm import ScriptedLLM, shortest_reply

ROLES = ("task", "rewrite", "attribute", "extract")


def main() -> None:
    options = _options()
    task = load_task("locomo", data=options.data)
    task = subset(task, groups=[options.group])
    questions = counted(task)[: options.questions]
    models = {role: ScriptedLLM(shortest_reply, name=role, constrains=True) for role in ROLES}
    roles = RoleModels.of(models)
    maker = FactoryMaker(
        load_embedder("static"),
        word_vectors(),
        EngineModels(None, roles.get("rewrite"), roles.get("attribute")),
        model_check(models["attribute"]),
    )
    plan = CoevolvePlan.paper(model=True)
    tools = TrainingTools(
        agent=make_agent("llm", roles),
        make=maker,
        plan=plan,
        reward="token_f1",
        seed=0,
        attributor=roles.get("attribute"),
        distiller=roles.get("extract"),
    )
    training = Training(tools, task, None, questions)
    state = State(plan.start(), LearnedMemory.empty())
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    seen: set[str] = set()
    for number, phase in enumerate((Phase.ROUTER, Phase.MEMORY), 1):
        for model in models.values():
            model.requests.clear()
        state = training.take(Step(number, phase, 1), state).state
        found[str(phase)] = _counted(models, len(questions), seen)
        note(f"{phase}: done")
    table(
        f"a training interaction, {len(questions)} questions of {options.group}, paper preset",
        ("phase", "what", "calls", "new ones", "prompt tokens of the new"),
        [
            (phase, what, f"{calls:.2f}", f"{fresh:.2f}", f"{tokens:.0f}")
            for phase, by in found.items()
            for what, (calls, fresh, tokens) in by.items()
        ],
    )
    finish(
        "coevolve_cost",
        {
            "questions": len(questions),
            "per_interaction": {
                phase: {
                    what: {
                        "calls": round(calls, 2),
                        "new": round(fresh, 2),
                        "prompt_tokens": round(tokens),
                    }
                    for what, (calls, fresh, tokens) in by.items()
                }
                for phase, by in found.items()
            },
        },
    )


def _counted(
    models: Mapping[str, ScriptedLLM], questions: int, seen: set[str]
) -> dict[str, tuple[float, float, float]]:
    """Per question, by what was asked: calls, those not asked before (a cache answers the others),
    and the prompt tokens of these."""
    calls: Counter[str] = Counter()
    fresh: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for role, model in models.items():
        for request in model.requests:
            what = _what(role, request)
            calls[what] += 1
            key = f"{role}{request.messages}"
            if key not in seen:
                seen.add(key)
                fresh[what] += 1
                tokens[what] += prompt_tokens(request)
    return {
        what: (calls[what] / questions, fresh[what] / questions, tokens[what] / questions)
        for what in sorted(calls)
    }


def _what(role: str, request: Request) -> str:
    properties = (request.schema or {}).get("properties", {})
    if role == "attribute":
        return "attribution" if "shares" in properties else "check of edges in time"
    return {"task": "answer", "rewrite": "SR-QR", "extract": "distillation"}[role]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--group", default="conv-30")
    parser.add_argument("--questions", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
