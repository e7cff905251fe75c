"""Acceptance and re-check on hand-made pairs."""

from __future__ import annotations

import pytest

from memgene.evolution.guard import BestSoFar, GuardMode, PairedGuard, recheck
from memgene.evolution.scoring import Pairs


def pairs(better: int, worse: int, equal: int) -> Pairs:
    """Questions that went 0 → 1, 1 → 0, and those that stayed, all in one group."""
    challenger = (1.0,) * better + (0.0,) * worse + (1.0,) * equal
    base = (0.0,) * better + (1.0,) * worse + (1.0,) * equal
    return Pairs(challenger, base, ("g",) * (better + worse + equal))


def test_a_clear_gain_is_accepted() -> None:
    verdict = PairedGuard().judge(pairs(20, 2, 78), seed=1)
    assert verdict.accepted
    assert verdict.delta == pytest.approx(0.18)
    assert verdict.probability is not None
    assert verdict.probability > 0.999


def test_a_gain_within_noise_is_rejected() -> None:
    # +1 of 100 with 21 questions that changed: mean 1, standard deviation about √21 = 4.6
    # questions, so P(Δ>0) is about Φ(0.22) = 0.54 after the continuity correction.
    verdict = PairedGuard().judge(pairs(11, 10, 79), seed=1)
    assert not verdict.accepted
    assert verdict.probability == pytest.approx(0.54, abs=0.04)
    assert "P(better)" in verdict.reason


def test_a_sure_but_tiny_gain_is_rejected() -> None:
    # 4 of 1000 better, none worse: P(Δ>0) = 1 − (1 − 0.004)^1000 = 0.98, but Δ = 0.004
    verdict = PairedGuard().judge(pairs(4, 0, 996), seed=1)
    assert verdict.probability == pytest.approx(0.98, abs=0.01)
    assert not verdict.accepted
    assert "needed: 0.005 with 0.9" in verdict.reason


def test_nothing_changed_is_rejected() -> None:
    verdict = PairedGuard().judge(pairs(0, 0, 50), seed=1)
    assert (verdict.accepted, verdict.delta, verdict.probability) == (False, 0.0, 0.0)


def test_sure_evidence_supports_answers_that_do_not_speak_against_it() -> None:
    likely, more = pairs(12, 9, 79), pairs(15, 1, 84)  # P about 0.72; Δ 0.14, P about 1
    assert not PairedGuard().judge(likely, 1).accepted
    verdict = PairedGuard().judge(likely, 1, more)
    assert verdict.accepted
    assert "evidence in the context +0.1400" in verdict.reason
    assert PairedGuard().judge(pairs(10, 11, 79), 1, more).accepted  # P about 0.4
    # not what is rather worse, not by little or unsure evidence, and not under a strict guard
    assert not PairedGuard().judge(pairs(7, 13, 80), 1, more).accepted  # P about 0.08
    assert not PairedGuard().judge(likely, 1, pairs(9, 6, 85)).accepted
    assert not PairedGuard().judge(likely, 1, pairs(4, 0, 996)).accepted
    assert not PairedGuard.of_mode(GuardMode.STRICT, 1).judge(likely, 1, more).accepted


def test_strict_divides_the_error_by_the_round_limit() -> None:
    assert PairedGuard.of_mode(GuardMode.STRICT, 8).alpha == pytest.approx(0.0125)
    assert PairedGuard.of_mode(GuardMode.NORMAL, 8).alpha == pytest.approx(0.1)
    # 14 better, 8 worse of 100: z about 5.5 / √22 = 1.17 with the correction, P about 0.88…0.9;
    # 20 better, 10 worse: z about 9.5 / √30 = 1.73, P about 0.96: normal accepts, strict does not
    found = pairs(20, 10, 70)
    assert PairedGuard.of_mode(GuardMode.NORMAL, 8).judge(found, 1).accepted
    assert not PairedGuard.of_mode(GuardMode.STRICT, 8).judge(found, 1).accepted


def test_questions_are_resampled_within_groups() -> None:
    # All gain is in group a, all loss in group b; resampling groups would make this uncertain,
    # within groups nothing varies at all.
    found = Pairs((1.0,) * 6 + (0.0,) * 4, (0.0,) * 6 + (1.0,) * 4, ("a",) * 6 + ("b",) * 4)
    assert PairedGuard().judge(found, 1).probability == 1.0


def test_equal_seeds_give_equal_verdicts() -> None:
    found = pairs(13, 10, 77)
    assert PairedGuard().judge(found, 5) == PairedGuard().judge(found, 5)


def test_best_so_far_accepts_any_gain_and_no_tie() -> None:
    assert BestSoFar().judge(pairs(1, 0, 999), 1).accepted
    assert not BestSoFar().judge(pairs(1, 1, 98), 1).accepted


def test_recheck_keeps_what_is_not_worse_beyond_noise() -> None:
    assert recheck(pairs(5, 2, 43), 1).kept
    equal = recheck(pairs(0, 0, 50), 1)
    assert (equal.kept, equal.delta, equal.not_worse) == (True, 0.0, 1.0)
    slightly = recheck(pairs(8, 10, 32), 1)
    assert slightly.delta == pytest.approx(-0.04)
    assert slightly.kept


def test_recheck_drops_what_is_clearly_worse() -> None:
    # −12 of 50, 16 changed: z = −11.5 / 3.5, so hardly any resample reaches zero
    found = recheck(pairs(2, 14, 34), 1)
    assert found.not_worse < 0.01
    assert not found.kept
