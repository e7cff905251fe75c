"""Who writes the programs of a run."""

from __future__ import annotations

from memgene.evolution.programs.composing import ModuleDrafter
from memgene.evolution.programs.drafting import Drafter
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.reflecting import ReflectiveDrafter
from memgene.evolution.reflection.material import ToolkitNotes
from memgene.evolution.reflection.reflector import Reflector
from memgene.evolution.workbench import Workbench
from memgene.programs.runtime import ProgramRuntime


def drafter_of(bench: Workbench, plan: ProgramPlan, runtime: ProgramRuntime) -> Drafter:
    """The model of role reflector where the run's proposer is `llm`; else modules are composed."""
    words = bench.answers_with_a_model
    if bench.settings.proposer != "llm":
        return ModuleDrafter(bench.settings.proposer, bench.metric, words=words, scope=plan.scope)
    reflector = Reflector(bench.roles["reflector"], max_prompt_tokens=plan.prompt_tokens)
    toolkit = ToolkitNotes(
        llm="toolkit" in bench.roles,
        agent="llm" if words else "offline",
        limits=runtime.limits,
    )
    hints = "\n".join(bench.task.hints.values())
    return ReflectiveDrafter(reflector, plan, bench.metric, toolkit, hints)
