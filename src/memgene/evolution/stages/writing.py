"""A stage that a language model writes from failures on dev, gated before it is tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from memgene.core import ModelError, RunError, content_hash
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.diagnosis import Diagnosis, Failing
from memgene.evolution.rundir import RunFolder
from memgene.evolution.spending import Spending
from memgene.evolution.stages.events import StageWritten
from memgene.evolution.stages.gates import gate_stage
from memgene.evolution.stages.static import modules_for_stages
from memgene.llm.prompts.stages import MEND, STAGE
from memgene.llm.protocol import LLM, ChatMessage
from memgene.llm.structured import ask
from memgene.retrieval.stages.contract import CONTRACT, HIT, UNIT
from memgene.retrieval.stages.host import StageHost
from memgene.retrieval.stages.stage import MOST_SOURCE, MOST_STRENGTH, Stage

_SHOWN, _HITS, _CHARACTERS = 6, 4, 200
_REPLY_TOKENS = 2_048
_REASON = 400


class StageReply(BaseModel):
    """What the model is asked for."""

    name: str = Field(description="a short name in a-z, 0-9 and _", pattern=r"^[a-z][a-z0-9_]*$")
    reason: str = Field(description="why it should help, in one sentence")
    strength: float = Field(description="how much it weighs", gt=0, le=MOST_STRENGTH)
    source: str = Field(description="the whole Python module", max_length=MOST_SOURCE)


@dataclass(frozen=True, slots=True)
class Written:
    """A stage that passed the gates, how strong, and why."""

    stage: Stage
    strength: float
    reason: str


class StageWriter:
    """Asks the model for a stage once a round; with what a gate finds it is asked once more.

    A model need not say the same twice, so what it wrote is recorded and taken from the record.
    """

    def __init__(
        self, llm: LLM, host: StageHost, run: RunFolder, meter: BudgetMeter, spending: Spending
    ) -> None:
        self._llm = llm
        self._host = host
        self._run = run
        self._meter = meter
        self._spending = spending

    def write(self, number: int, diagnosis: Diagnosis) -> Written | None:
        """A stage for what failed in this round; None where none passes the gates."""
        event = self._run.journal.peek(StageWritten, round=number)
        if event is None:
            event = self._written(number, diagnosis)
        self._run.journal.emit(event)
        self._meter.add_work(event.usage, event.seconds)
        if event.refused:
            return None
        path = self._run.folder_of(f"stages/{number:03d}") / f"{event.name}.py"
        stage = Stage(event.name, path.read_text(encoding="utf-8"))
        if stage.digest != event.digest:
            raise RunError(f"{path} is not what the journal recorded; start a new run folder")
        return Written(stage, event.strength, event.reason)

    def _written(self, number: int, diagnosis: Diagnosis) -> StageWritten:
        reply: StageReply | None = None
        refused = ""
        with self._spending.work() as work:
            try:
                reply, refused = self._asked(diagnosis, number)
            except ModelError as error:
                refused = str(error)[:_REASON]
        name = "none" if reply is None else reply.name
        source = "" if reply is None else reply.source
        files = {} if reply is None else {f"{name}.py": source}
        said = refused or "it passes the gates"
        message = f"# {name}\n\n{said}\n"
        self._run.save_files(f"stages/{number:03d}", {**files, "message.md": message})
        return StageWritten(
            round=number,
            model=self._llm.name,
            name=name,
            strength=0.0 if reply is None else reply.strength,
            reason="" if reply is None else reply.reason[:_REASON],
            refused=refused,
            digest=content_hash(source)[:12],
            usage=work.usage,
            seconds=work.seconds,
        )

    def _asked(self, diagnosis: Diagnosis, number: int) -> tuple[StageReply, str]:
        """The reply that is taken, and why it cannot be tried (empty where it can)."""
        messages = brief(diagnosis)
        reply = self._reply(messages, number)
        findings = self._findings(reply)
        if findings:
            said = ChatMessage("assistant", reply.model_dump_json())
            reply = self._reply((*messages, said, *MEND.render(findings=findings)), number)
            findings = self._findings(reply)
        return reply, findings[:_REASON]

    def _reply(self, messages: Sequence[ChatMessage], number: int) -> StageReply:
        return ask(self._llm, messages, StageReply, max_tokens=_REPLY_TOKENS, seed=number).value

    def _findings(self, reply: StageReply) -> str:
        found = gate_stage(reply.source, reply.name[:40], self._host)
        return "\n".join(str(finding) for finding in found)


def brief(diagnosis: Diagnosis) -> tuple[ChatMessage, ...]:
    """What the model is told: failures on dev and the contract of stages."""
    failures = "\n\n".join(_failure(failing) for failing in diagnosis.worst[:_SHOWN])
    contract = "\n".join(
        f"- {kind}: `{function.signature}`: {function.about}"
        + ("" if function.required else " (may be left out)")
        for kind, functions in CONTRACT.items()
        for function in functions
    )
    return STAGE.render(
        failures=failures or "(none)",
        contract=contract,
        unit="\n".join(f"- `{name}`: {about}" for name, about in UNIT.items()),
        hit="\n".join(f"- `{name}`: {about}" for name, about in HIT.items() if name not in UNIT),
        modules=", ".join(modules_for_stages()),
    )


def _failure(failing: Failing) -> str:
    case = failing.case
    lines = [f"Question: {failing.question}", f"Lost at: {failing.cause}"]
    hits = case.hits or ()
    wanted = set(case.evidence)
    lines += [f"Ranked {n}: {hit.rendered[:_CHARACTERS]}" for n, hit in enumerate(hits[:_HITS], 1)]
    lines += [
        f"Should have been first, was {n}: {hit.rendered[:_CHARACTERS]}"
        for n, hit in enumerate(hits, 1)
        if wanted.intersection(hit.refs) and n > _HITS
    ]
    lines.append(f"Known answer: {'; '.join(map(str, case.gold))[:_CHARACTERS]}")
    return "\n".join(lines)
