"""From question and context to a short answer: one rule per kind of question."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile

from memgene.agents.extractive.amounts import clock_time, count_for, duration, frequency
from memgene.agents.extractive.evidence import Evidence, Scene, find_evidence, set_scene
from memgene.agents.extractive.lines import read_lines
from memgene.agents.extractive.question import Asked, Kind, understand
from memgene.agents.extractive.sentences import analyse
from memgene.agents.extractive.spans import Span, best_spans, settle
from memgene.agents.extractive.weights import RULES
from memgene.agents.extractive.words import WordClass
from memgene.core import Answer, Context, Question
from memgene.retrieval.dates import Resolved, find_dates
from memgene.retrieval.periods import Grain, render

ABSTENTION = "not mentioned"
_SPAN_DEPTH = 5  # sentences in which spans are sought
_RULE_DEPTH = 8  # sentences in which dates and amounts are sought
_LIST_LENGTH = 3

_DENIAL = re.compile(r"\b(?:no|not|never|nope|none|\w+n['’]t|without|unable)\b", re.IGNORECASE)
_UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
_OPENERS = frozenset(
    (WordClass.BE, WordClass.AUXILIARY, WordClass.PRONOUN, WordClass.WH, WordClass.FILLER)
)


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule looks at: the scene, and the sentences that speak about the question."""

    scene: Scene
    evidence: Sequence[Evidence]

    @property
    def asked(self) -> Asked:
        """The question."""
        return self.scene.asked


def answer(question: Question, context: Context) -> Answer:
    """Answer from the context alone; abstain when nothing in it matches the question.

    The words come from the context, except *yes*, *no*, numbers counted from ordinals, dates
    written out, an option the question names, and the abstention itself. `rule` names the rule,
    `cited` the hits it used.
    """
    asked = understand(question.text)
    scene = set_scene(asked, read_lines(context))
    evidence = find_evidence(scene)
    if not any(e.features["line"] > 0 or e.features["named"] > 0 for e in evidence) and (
        asked.english or not evidence
    ):
        return Answer(ABSTENTION, abstained=True, rule="abstain")
    case = Case(scene, evidence)
    if question.choices:
        return _choose(case, question.choices)
    if not asked.english:
        return _best_sentence(case)
    rule = _RULES.get(asked.kind, _span)
    return rule(case) or _span(case) or _best_sentence(case)


def _reply(text: str, rule: str, *used: Evidence) -> Answer:
    cited = dict.fromkeys(e.line.id for e in used if e.line.id)
    return Answer(text, rule=rule, cited=tuple(cited))


def _best_sentence(case: Case) -> Answer:
    """The whole sentence that speaks most about the question."""
    return _reply(case.evidence[0].sentence.text, "best_sentence", case.evidence[0])


def _span(case: Case) -> Answer | None:
    """The best span of the best sentences."""
    spans = settle(best_spans(case.scene, case.evidence[:_SPAN_DEPTH]))
    return _reply(spans[0].text, "span", spans[0].evidence) if spans else None


def _list(case: Case) -> Answer | None:
    """Spans of several lines, joined by commas, while they are nearly as good as the best."""
    spans = best_spans(case.scene, case.evidence[:_SPAN_DEPTH])
    kept: list[Span] = []
    floor = spans[0].score - RULES["list:margin"] if spans else 0.0
    for span in takewhile(lambda s: s.score >= floor, spans):
        lines = {k.evidence.line.rank for k in kept}
        if span.evidence.line.rank in lines or any(span.overlaps(k) for k in kept):
            continue
        kept.append(span)
        if len(kept) == _LIST_LENGTH:
            break
    if not kept:
        return None
    return _reply(", ".join(s.text for s in kept), "list", *(s.evidence for s in kept))


def _when(case: Case) -> Answer | None:
    """A date spoken of where the question is spoken of, or else the day that was said on."""
    best: tuple[float, Evidence, list[Resolved]] | None = None
    for e in case.evidence[:_RULE_DEPTH]:
        found = [d for d in find_dates(e.sentence.text, e.line.day) if _is_news(case.asked, e, d)]
        score = e.score + (RULES["when:dated"] * e.features["most"] if found else 0.0)
        if (found or e.line.day) and (best is None or score > best[0]):
            best = (score, e, found)
    if best is None:
        return None
    _, e, found = best
    day, grain = (found[0].day, found[0].grain) if found else (e.line.day, Grain.DAY)
    return _reply(_at_grain(case.asked, day, grain), "when", e) if day else None


def _is_news(asked: Asked, e: Evidence, found: Resolved) -> bool:
    """Whether a date says something that the question does not say itself."""
    words = e.sentence.text[found.start : found.end].lower().split()
    return not all(w in asked.words for w in words)


def _at_grain(asked: Asked, day: date, grain: Grain) -> str:
    """Render a date as coarsely as the question asks for it (*which year*, *what month*)."""
    for word, coarse in (("year", Grain.YEAR), ("month", Grain.MONTH)):
        if word in asked.words and grain < coarse:
            return render(day, coarse)
    return render(day, grain)


def _how_long(case: Case) -> Answer | None:
    """The first span of time, in the unit asked for, in the best sentences that have one."""
    unit = next((u for u in _UNITS if u + "s" in case.asked.words), None)
    return _first(case, "how_long", lambda e: duration(e.sentence.text, unit))


def _clock(case: Case) -> Answer | None:
    """The first time of day in the best sentences that have one."""
    return _first(case, "clock", lambda e: clock_time(e.sentence.text))


def _first(case: Case, rule: str, find: Callable[[Evidence], str | None]) -> Answer | None:
    for e in case.evidence[:_RULE_DEPTH]:
        text = find(e)
        if text:
            return _reply(text, rule, e)
    return None


def _number(case: Case) -> Answer | None:
    """A number that is no date; one that stands before the thing counted is preferred."""
    if "often" in case.asked.words:
        return _first(case, "how_often", lambda e: frequency(e.sentence.text))
    best: tuple[float, str, Evidence] | None = None
    for e in case.evidence[:_RULE_DEPTH]:
        dates = find_dates(e.sentence.text, e.line.day)
        for text, near in count_for(e.sentence, case.asked.focus, dates):
            score = e.score + (RULES["number:near"] if near else 0.0)
            if best is None or score > best[0]:
                best = (score, text, e)
    return _reply(best[1], "number", best[2]) if best else None


def _yes_no(case: Case) -> Answer:
    """Yes, unless the sentence that speaks most about it denies what the question affirms."""
    e = case.evidence[0]
    denied = _DENIAL.search(e.sentence.text) is not None
    asked_negative = _DENIAL.search(case.asked.sentence.text) is not None
    return _reply("no" if denied != asked_negative else "yes", "yes_no", e)


def _choice(case: Case) -> Answer:
    """The alternative named in the question that the best sentences speak of."""
    return _choose(case, options(case.asked.clause))


def options(clause: str) -> list[str]:
    """The alternatives around *or*, as long as the last one where their start is not marked."""
    head, _, last = clause.rstrip("?!. ").rpartition(" or ")
    last = last.strip()
    parts = [p for p in re.split(r",\s*", head.rstrip(", ")) if p]
    if len(parts) > 1:
        first = analyse(parts[0])
        opening = sum(1 for _ in takewhile(_OPENERS.__contains__, first.classes))
        if opening < len(first.words):
            parts[0] = first.cut(opening, len(first.words) - 1)
        return [*parts, last]
    return [" ".join(head.split()[-len(last.split()) :]), last]


def _choose(case: Case, choices: Sequence[str]) -> Answer:
    """The choice whose own words weigh most in the best sentences; the first one on a tie."""
    contents = [analyse(c).content for c in choices]
    shared = frozenset.intersection(*contents) if len(contents) > 1 else frozenset()

    def support(content: frozenset[str]) -> float:
        own = sorted(content - shared)
        found = (
            sum(case.scene.rare[s] for s in own if s in e.sentence.content) / (1 + i)
            for i, e in enumerate(case.evidence[:_RULE_DEPTH])
        )
        return sum(found) / math.sqrt(1 + len(own))

    scores = [support(c) for c in contents]
    best = max(range(len(choices)), key=lambda i: (scores[i], -i))
    return _reply(choices[best], "choice", case.evidence[0])


_RULES: dict[Kind, Callable[[Case], Answer | None]] = {
    Kind.WHEN: _when,
    Kind.HOW_LONG: _how_long,
    Kind.CLOCK: _clock,
    Kind.NUMBER: _number,
    Kind.YES_NO: _yes_no,
    Kind.CHOICE: _choice,
    Kind.LIST: _list,
}
