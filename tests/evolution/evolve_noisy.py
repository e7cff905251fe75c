"""A small task on the real engine, and a program that evolves for it: `evolve_noisy.py RUN`, with
`--llm` by the proposals of a model that never says the same twice.

The tests import the task from here; the kill test runs the program and kills it.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import datetime, timedelta

from memgene.core import Budget, Episode, Gold, LabelledQuestion, Message, Question, stable_id
from memgene.evolution.evolve import run_evolution
from memgene.evolution.settings import EvolveSettings
from memgene.llm.protocol import Request
from memgene.llm.roles import RoleModels
from memgene.tasks.task import Regime, Task
from memgene.testing.llm import ScriptedLLM

PEOPLE = ("Ada", "Ben", "Cleo", "Dov")
DEEDS = ("painted", "repaired", "bought", "lost", "cleaned", "sold")
THINGS = ("bicycle", "kettle", "lantern", "violin", "ladder", "camera", "saddle", "globe")
PLACES = ("harbour", "market", "attic", "station", "orchard", "museum")


def noisy_task(groups: int = 6, messages: int = 18, questions: int = 6) -> Task:
    """Groups whose messages share few words, so that finding the right one takes some doing.

    A question leaves out a word of its message half of the time and may ask with an inflection.
    """
    generator = random.Random(7)
    episodes, asked = [], []
    for number in range(groups):
        group = f"g{number}"
        told = [_deed(generator) for _ in range(messages)]
        start = datetime(2024, 1 + number, 3)
        for part in range(3):
            size = messages // 3
            lines = tuple(
                Message(f"I {d} the {t} at the {p}.", f"{group}:{i}", who)
                for i, (who, d, t, p) in enumerate(
                    told[part * size : (part + 1) * size], part * size
                )
            )
            time = start + timedelta(days=7 * part)
            episodes.append(Episode(f"{group}/{part}", lines, group, time, f"{group}/{part}"))
        for place in generator.sample(range(messages), questions):
            who, deed, thing, where = told[place]
            text = (
                f"What did {who} do with the {thing}s at the {where}?"
                if generator.random() < 0.5
                else f"Where was it that {who} {deed} something?"
            )
            asked.append(
                LabelledQuestion(
                    Question(f"{group}/q{place}", text, group),
                    Gold((where,), (f"{group}:{place}",), generator.choice(("what", "where"))),
                )
            )
    fingerprint = stable_id(*(e.text for e in episodes), *(q.question.text for q in asked))
    return Task("noisy", tuple(episodes), tuple(asked), Regime.OWN_GROUP, "recall@1", fingerprint)


def settings(rounds: int = 3, **changes: object) -> EvolveSettings:
    """A short evolution with two static rows."""
    values: dict[str, object] = {
        "embedder": "hashing",
        "harnesses": ("bm25", "bank"),
        "budget": Budget(iterations=rounds),
    }
    return EvolveSettings(**{**values, **changes})  # type: ignore[arg-type]


def _message(name: str, who: str, deed: str, thing: str, where: str) -> Message:
    return Message(f"I {deed} the {thing} at the {where}.", name, who)


def _deed(generator: random.Random) -> tuple[str, str, str, str]:
    who, deed, thing, where = (generator.choice(w) for w in (PEOPLE, DEEDS, THINGS, PLACES))
    return who, deed, thing, where


def moody_models() -> RoleModels:
    """A model whose proposals follow from how many rounds it is told of; what it says beside them
    is never the same twice."""

    def say(request: Request) -> str:
        told = request.messages[-1].content.count("round ")
        lever, value = (("window", 2), ("context_k", 5), ("neighbour_bonus", 0.3))[told % 3]
        wanted = {"lever": lever, "value": value, "why": f"thought of {random.random()}"}
        return json.dumps({"changes": [wanted], "next": str(random.random())})

    return RoleModels.of({"reflector": ScriptedLLM(say, name="moody")})


def main(run: str, *options: str) -> None:
    """Start or resume."""
    resume = "--resume" in options
    if "--llm" in options:
        chosen = settings(proposer="llm", metric="token_f1")
        run_evolution(noisy_task(), chosen, run, resume=resume, models=moody_models())
    else:
        run_evolution(noisy_task(), settings(), run, resume=resume)


if __name__ == "__main__":
    print("ready", flush=True)  # noqa: T201 - tells the test that imports are done
    main(*sys.argv[1:])
