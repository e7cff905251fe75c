"""How far judges agree with each other, and with a metric that needs no judge.

Cohen's kappa (J. Cohen, "A coefficient of agreement for nominal scales", Educational and
Psychological Measurement 20(1), 1960): `(p_o − p_e) / (1 − p_e)`, p_o the share of equal verdicts,
p_e the share expected if both gave their own verdicts by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Any

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evaluation.scoring import REFERENCE
from memgene.evaluation.statistics import Interval, mean_interval

REFERENCE_FROM = 0.5
REFERENCE_NAME = f"{REFERENCE} ≥ {REFERENCE_FROM} (reference, no judge)"
ONE_CLASS = "undefined: every verdict of both is the same"

Verdicts = Callable[[Case], tuple[bool, ...]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges over the questions that both judged with a model.

    `first` and `second` name their metrics (`judge_strict`, `judge_lenient@judge2`), or the
    reference. `agreement` is the mean over questions of the share of equal verdicts: one verdict
    a question, or one a criterion of its rubric. `kappa` is over all verdicts, None where it is
    undefined, which `note` then says. `both`, `neither`, `only_first`, `only_second` count the
    verdicts that were positive.
    """

    first: str
    second: str
    agreement: Interval
    kappa: float | None
    both: int
    neither: int
    only_first: int
    only_second: int
    reference: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """An entry of `agreement`."""
        return {
            "first": self.first,
            "second": self.second,
            "reference": self.reference,
            "agreement": self.agreement.to_json(),
            "kappa": self.kappa,
            "note": self.note,
            "both": self.both,
            "neither": self.neither,
            "only_first": self.only_first,
            "only_second": self.only_second,
        }


def cohen_kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Cohen's kappa of two judges' verdicts, side by side; None when both gave one and the same
    verdict throughout, where chance alone explains everything."""
    if len(first) != len(second) or not first:
        raise InputError(f"kappa needs verdicts in pairs, got {len(first)} and {len(second)}")
    total = len(first)
    yes_first, yes_second = sum(first), sum(second)
    # Counts instead of shares, so that a chance agreement of 1 is seen exactly.
    by_chance = yes_first * yes_second + (total - yes_first) * (total - yes_second)
    if by_chance == total * total:
        return None
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    return (equal * total - by_chance) / (total * total - by_chance)


def agreements(cases: Sequence[Case], *, seed: int = 0) -> tuple[Agreement, ...]:
    """Every pair of judges that judged the same thing, then each judge of correctness beside
    `token_f1` ≥ 0.5, which shows what a judge adds to counting words.

    A question may stand in several cases (of seeds, of harnesses): it counts as one. Verdicts that
    no model gave (an empty answer) are left out: nobody was asked. `seed` is the bootstrap's.
    """
    names = list(dict.fromkeys(name for case in cases for name in case.judgements))
    right = [name for name in names if not _is_rubric(name)]
    pairs = [(a, b) for a, b in combinations(names, 2) if _is_rubric(a) == _is_rubric(b)]
    found = [_agreement(cases, a, b, _by_judge(a), _by_judge(b), seed=seed) for a, b in pairs]
    found += [
        _agreement(cases, name, REFERENCE_NAME, _by_judge(name), _by_words, seed=seed)
        for name in right
    ]
    return tuple(one for one in found if one is not None)


def _agreement(
    cases: Sequence[Case],
    first: str,
    second: str,
    ours: Verdicts,
    theirs: Verdicts,
    *,
    seed: int,
) -> Agreement | None:
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    groups: dict[str, str] = {}
    for case in cases:
        a, b = ours(case), theirs(case)
        if a and b:
            pairs.setdefault(case.question_id, []).extend(zip(a, b, strict=True))
            groups[case.question_id] = case.group
    if not pairs:
        return None
    shares = [fsum(a == b for a, b in same) / len(same) for same in pairs.values()]
    verdicts = [pair for same in pairs.values() for pair in same]
    kappa = cohen_kappa([a for a, _ in verdicts], [b for _, b in verdicts])
    return Agreement(
        first=first,
        second=second,
        agreement=mean_interval(shares, list(groups.values()), seed=seed),
        kappa=kappa,
        both=verdicts.count((True, True)),
        neither=verdicts.count((False, False)),
        only_first=verdicts.count((True, False)),
        only_second=verdicts.count((False, True)),
        reference=second == REFERENCE_NAME,
        note=ONE_CLASS if kappa is None else "",
    )


def _is_rubric(metric: str) -> bool:
    return metric.partition("@")[0] == "rubric"


def _by_judge(metric: str) -> Verdicts:
    """What the judge said of a case; nothing where it was not asked."""

    def verdicts(case: Case) -> tuple[bool, ...]:
        said: Mapping[str, Any] = case.judgements.get(metric, {})
        if "model" not in said:
            return ()
        if "criteria" in said:
            return tuple(bool(criterion["met"]) for criterion in said["criteria"])
        return (bool(said["correct"]),)

    return verdicts


def _by_words(case: Case) -> tuple[bool, ...]:
    """What the reference says of a case; nothing where it does not apply."""
    value = case.scores.get(REFERENCE)
    return () if value is None else (value >= REFERENCE_FROM,)
