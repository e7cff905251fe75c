"""From question and context to a short answer: one rule per kind of question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from memgene.agents.extractive.dates import Grain, Resolved, find_dates
from memgene.agents.extractive.evidence import (
    Evidence,
    Scene,
    find_evidence,
    set_scene,
)
from memgene.agents.extractive.lines import read_lines
from memgene.agents.extractive.question import Asked, Kind, understand
from memgene.agents.extractive.spans import Span, best_spans, settle
from memgene.agents.extractive.weights import RULES
from memgene.agents.extractive.words import WordClass
from memgene.core import Answer, Context, Question

_READ = 5  # sentences that spans are sought in
ABSTENTION = "not mentioned"


@dataclass(frozen=True, slots=True)
class Case:
    """All that a rule looks at: the question and the sentences that speak about it, best first."""

    scene: Scene
    evidence: Sequence[Evidence]

    @property
    def asked(self) -> Asked:
        return self.scene.asked


def answer(question: Question, context: Context) -> Answer:
    """Answer from the context alone; abstain when nothing in it matches the question."""
    asked = understand(question.text)
    scene = set_scene(asked, read_lines(context))
    evidence = find_evidence(scene)
    if not evidence or not (_touches(asked, evidence) or not asked.english):
        return Answer(ABSTENTION, abstained=True, rule="abstain")
    case = Case(scene, evidence)
    if question.choices:
        return _choose(case, question.choices)
    if not asked.english:
        return Answer(evidence[0].sentence.text, rule="best_sentence", cited=_cite(evidence[:1]))
    rule = _RULES.get(asked.kind, _span)
    return (
        rule(case)
        or _span(case)
        or Answer(evidence[0].sentence.text, rule="best_sentence", cited=_cite(evidence[:1]))
    )


def _touches(asked: Asked, evidence: Sequence[Evidence]) -> bool:
    return any(e.features["line"] > 0 or e.features["named"] > 0 for e in evidence)


def _cite(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.line.id for e in evidence if e.line.id))


def _when(case: Case) -> Answer | None:
    """The date spoken of in the sentence that speaks most about the question, or its own day."""
    best: tuple[float, Evidence, list[Resolved]] | None = None
    for e in case.evidence[:8]:
        found = [
            d
            for d in find_dates(e.sentence.text, e.line.day)
            if not all(
                w in case.asked.words for w in e.sentence.text[d.start : d.end].lower().split()
            )
        ]
        score = e.score + (RULES["when:dated"] if found else 0.0)
        if (found or e.line.day) and (best is None or score > best[0]):
            best = (score, e, found)
    if best is None:
        return None
    _, e, found = best
    if found:
        text = _at_grain(case.asked, found[0].day, found[0].grain)
    else:
        assert e.line.day is not None
        text = _at_grain(case.asked, e.line.day, Grain.DAY)
    return Answer(text, rule="when", cited=_cite([e]))


def _at_grain(asked: Asked, day: date, grain: Grain) -> str:
    """Render a date as coarsely as the question asks for it (*which year*, *what month*)."""
    for word, coarse in (("year", Grain.YEAR), ("month", Grain.MONTH)):
        if word in asked.words and grain < coarse:
            grain = coarse
    return Resolved(0, 0, day, grain, False).render()


_DURATION = re.compile(
    r"\b(?:(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|half an?|(?:a )?couple of|(?:a )?few|several|many)(?: and a half)? (?:more )?"
    r"(?:second|minute|hour|day|week|month|year|decade)s?)\b(?! ago)",
    re.IGNORECASE,
)


def _how_long(case: Case) -> Answer | None:
    """A span of time, or since when."""
    for e in case.evidence[:6]:
        found = _DURATION.search(e.sentence.text)
        if found:
            return Answer(found.group(), rule="how_long", cited=_cite([e]))
    return None


def _number(case: Case) -> Answer | None:
    """A number that is no date; one that stands before the thing counted is preferred."""
    best: tuple[float, str, Evidence] | None = None
    for e in case.evidence[:6]:
        s = e.sentence
        dates = find_dates(s.text, e.line.day)
        for i, kind in enumerate(s.classes):
            if kind is not WordClass.NUMBER or any(d.start <= s.starts[i] < d.end for d in dates):
                continue
            near = case.asked.focus in s.stems[i + 1 : i + 4]
            score = e.score + (RULES["number:near"] if near else 0.0)
            if best is None or score > best[0]:
                best = (score, s.cut(i, i), e)
    return Answer(best[1], rule="number", cited=_cite([best[2]])) if best else None


_DENIAL = re.compile(r"\b(?:no|not|never|nope|none|\w+n['’]t|without|unable)\b", re.IGNORECASE)


def _yes_no(case: Case) -> Answer | None:
    """Yes, unless the sentence that speaks most about it denies what the question affirms."""
    e = case.evidence[0]
    denied = _DENIAL.search(e.sentence.text) is not None
    asked_negative = _DENIAL.search(case.asked.sentence.text) is not None
    return Answer("no" if denied != asked_negative else "yes", rule="yes_no", cited=_cite([e]))


def _options(case: Case) -> list[str]:
    """The alternatives a question names: what stands around `or`."""
    text = case.asked.sentence.text.rstrip("?!. ")
    head, _, last = text.rpartition(" or ")
    others = re.split(r",\s*", head.rstrip(", "))
    return [*(o.strip() for o in others[:-1]), " ".join(others[-1].split()[-6:]), last.strip()]


def _choice(case: Case) -> Answer | None:
    """The named alternative that the best sentences speak of."""
    options = _options(case)
    return _choose(case, options, shared=True)


def _choose(case: Case, options: Sequence[str], shared: bool = False) -> Answer:
    """The option whose own words weigh most in the best sentences; the first one on a tie."""
    from memgene.agents.extractive.sentences import analyse

    contents = [analyse(o).content for o in options]
    common = frozenset.intersection(*contents) if len(contents) > 1 else frozenset()
    scores = []
    for content in contents:
        own = content - common
        scores.append(
            sum(
                sum(w for s, w in case.scene.rare.items() if s in own and s in e.sentence.content)
                / (1 + i)
                for i, e in enumerate(case.evidence[:10])
            )
            / (1 + len(own)) ** 0.5
        )
    best = max(range(len(options)), key=lambda i: (scores[i], -i))
    text = options[best]
    return Answer(text, rule="choice", cited=_cite(case.evidence[:1]))


def _list(case: Case) -> Answer | None:
    """Spans of several sentences, joined by commas, while they are nearly as good as the best."""
    spans = best_spans(case.scene, case.evidence[:_READ])
    if not spans:
        return None
    kept: list[Span] = [spans[0]]
    for span in spans[1:]:
        if len(kept) == 3 or span.score < spans[0].score - RULES["list:margin"]:
            break
        if span.evidence.line is not kept[0].evidence.line and not any(
            span.overlaps(k) for k in kept
        ):
            kept.append(span)
    return Answer(
        ", ".join(s.text for s in kept), rule="list", cited=_cite([s.evidence for s in kept])
    )


def _span(case: Case) -> Answer | None:
    """The best span of the best sentences."""
    spans = best_spans(case.scene, case.evidence[:_READ])
    if spans:
        spans = settle(spans)
    return Answer(spans[0].text, rule="span", cited=_cite([spans[0].evidence])) if spans else None


_RULES: dict[Kind, Callable[[Case], Answer | None]] = {
    Kind.WHEN: _when,
    Kind.HOW_LONG: _how_long,
    Kind.NUMBER: _number,
    Kind.YES_NO: _yes_no,
    Kind.CHOICE: _choice,
    Kind.LIST: _list,
}
