"""Training a router: the loss as published, the order of interactions, and that it learns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memgene.core import InputError
from memgene.retrieval.router.adamw import AdamW
from memgene.retrieval.router.listwise import Ranked
from memgene.retrieval.router.observation import TWO_ROUTES, Observation
from memgene.retrieval.router.policy import Policy, kl
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.settings import Baseline, RouterSettings
from memgene.retrieval.router.training import RouterTrainer

Floats = NDArray[np.float64]
Trained = Callable[..., Router]
Observed = Callable[..., Observation]

ROUTES, FEATURES = ("dense", "sparse", "date"), ("length", "names")

PLAIN = RouterSettings(rate=0.01, batch=4, samples=1, baseline=Baseline.EMA)
"""One sample a question against the moving average, a linear head."""


def interactions(
    many: int, observed: Observed, seed: int = 0, samples: int = 1
) -> list[tuple[Observation, tuple[Floats, ...], list[float]]]:
    rng = np.random.default_rng(seed)
    return [
        (
            observed(seed + i),
            tuple(rng.dirichlet(np.ones(3), samples)),
            rng.random(samples).tolist(),
        )
        for i in range(many)
    ]


def spied_gradients(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Floats]]:
    """Gradients as they reach the optimiser, which leaves the arrays as they are."""
    seen: list[Mapping[str, Floats]] = []

    def spy(
        self: AdamW, arrays: Mapping[str, Floats], gradients: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        seen.append(gradients)
        return dict(arrays)

    monkeypatch.setattr(AdamW, "step", spy)
    return seen


def differences(router: Router, name: str, loss: Callable[[Router], float]) -> Floats:
    """d loss / d array by central finite differences, number by number."""
    held, step = router.arrays[name], 1e-5
    found = np.zeros_like(held)
    for at in np.ndindex(held.shape):
        sides = []
        for sign in (1, -1):
            moved = np.array(held)
            moved[at] += sign * step
            sides.append(loss(replace(router, arrays={**router.arrays, name: moved})))
        found[at] = (sides[0] - sides[1]) / (2 * step)
    return found


def logits_of(router: Router, seen: Observation) -> Floats:
    found: Floats = np.log(seen.prior) + router.deltas(seen.query[None], seen.features[None])[0]
    return found


# The advantage is by hand for three interactions of two samples: rewards (.2, .6), (1, 0), (.5, .5)
REWARDS = [[0.2, 0.6], [1.0, 0.0], [0.5, 0.5]]
GREEDY = [0.3, 0.9, 0.1]
ADVANTAGES = {
    Baseline.GROUP: [[-0.4, 0.4], [1.0, -1.0], [0.0, 0.0]],
    Baseline.SELF_CRITICAL: [[-0.1, 0.3], [0.1, -0.9], [0.4, 0.4]],
    # the mean of the first batch: (.4 + .5 + .5) / 3
    Baseline.EMA: [[r - 1.4 / 3 for r in row] for row in REWARDS],
}


@pytest.mark.parametrize("hidden", [0, 3])
@pytest.mark.parametrize("baseline", list(Baseline))
def test_the_gradient_of_a_batch_is_that_of_the_published_loss(
    trained: Trained,
    observed: Observed,
    monkeypatch: pytest.MonkeyPatch,
    baseline: Baseline,
    hidden: int,
) -> None:
    seen = spied_gradients(monkeypatch)
    chosen = RouterSettings(
        batch=3, kappa=12, beta_kl=0.3, floor=0.0, baseline=baseline, samples=2, hidden=hidden
    )
    router = trained(3, hidden=hidden)
    trainer = RouterTrainer(router, chosen)
    batch = interactions(3, observed, samples=2)
    for (seen_now, tried, _), rewards, greedy in zip(batch, REWARDS, GREEDY, strict=True):
        trainer.learn(seen_now, tried, rewards, greedy)

    def loss(changed: Router) -> float:
        policy, total = Policy(12, floor=0.0), 0.0
        for (o, tried, _), advantages in zip(batch, ADVANTAGES[baseline], strict=True):
            x = logits_of(changed, o)
            gains = [a * policy.log_prob(x, w) for a, w in zip(advantages, tried, strict=True)]
            total += -float(np.mean(gains)) + 0.3 * float(kl(x, np.log(o.prior)))
        return total / 3

    (gradients,) = seen
    assert set(gradients) == set(router.arrays) - {"feature_mean", "feature_scale"}
    for name, gradient in gradients.items():
        by_difference = differences(router, name, loss)
        assert gradient == pytest.approx(by_difference, rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize("hidden", [0, 3])
def test_the_gradient_of_the_listwise_loss_reaches_every_parameter(
    trained: Trained, observed: Observed, monkeypatch: pytest.MonkeyPatch, hidden: int
) -> None:
    seen = spied_gradients(monkeypatch)
    chosen = RouterSettings(batch=2, beta_kl=0.3, hidden=hidden, strength=0.7)
    router = trained(4, hidden=hidden, strength=0.7)
    trainer = RouterTrainer(router, chosen)
    rng = np.random.default_rng(1)
    target = np.asarray([1.0, 0, 0.5, 0, 0])
    batch = [(observed(i), rng.random((5, 3)), rng.random(5), target) for i in range(2)]
    for o, scores, base, gold in batch:
        assert trainer.learn_listwise(o, scores, base, gold)

    def loss(changed: Router) -> float:
        total = 0.0
        for o, scores, base, gold in batch:
            pi = changed.weights(o)
            divergence = float(kl(logits_of(changed, o), np.log(o.prior)))
            total += Ranked(scores, base, gold).loss(pi, o.prior, 0.7) + 0.3 * divergence
        return total / 2

    (gradients,) = seen
    for name, gradient in gradients.items():
        by_difference = differences(router, name, loss)
        assert gradient == pytest.approx(by_difference, rel=1e-6, abs=1e-6), name


def test_the_average_starts_at_the_first_batch_and_moves_with_each_interaction(
    observed: Observed,
) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), replace(PLAIN, batch=2, ema=0.9))
    assert trainer.average_reward is None
    seen = [(o, tried) for o, tried, _ in interactions(4, observed)]
    for (o, tried), reward in zip(seen, [0.2, 0.8, 1.0, 0.0], strict=True):
        trainer.learn(o, tried, [reward])
        if trainer.steps == 1:
            assert trainer.average_reward == pytest.approx(0.5)
    assert trainer.average_reward == pytest.approx(0.9 * (0.9 * 0.5 + 0.1 * 1.0))


def test_a_reward_is_compared_with_those_before_it(
    observed: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = spied_gradients(monkeypatch)
    router = Router.fresh(ROUTES, FEATURES)
    trainer = RouterTrainer(router, replace(PLAIN, batch=1, beta_kl=0.0))
    first, second, third = interactions(3, observed)
    for (o, tried, _), reward in zip((first, second, third), (0.4, 0.9, 0.5), strict=True):
        trainer.learn(o, tried, [reward])
    # Â = R − B: .4 − .4 (its own mean), .9 − .4, .5 − (.9·.4 + .1·.9)
    for (o, tried, _), advantage, gradients in zip(
        (first, second, third), (0.0, 0.5, 0.5 - 0.45), seen, strict=True
    ):
        slope = -advantage * Policy(50).log_prob_slope(np.log(o.prior), tried[0])
        assert gradients["head_bias"] == pytest.approx(slope, rel=1e-9, abs=1e-12)


def toy(chosen: RouterSettings, prior: float, questions: int, better: int = 0) -> float:
    """Train where the reward is the share of one of two routes; its share afterwards."""
    rng = np.random.default_rng(11)
    router = Router.fresh(TWO_ROUTES, FEATURES, 6, hidden=chosen.hidden, bound=chosen.bound, seed=2)
    trainer = RouterTrainer(router, chosen, seed=5)
    shares = np.asarray([prior, 1 - prior])
    for _ in range(questions):
        o = Observation(TWO_ROUTES, shares, rng.standard_normal(6), rng.standard_normal(2))
        tried = trainer.sample(o)
        greedy = float(trainer.router.weights(o)[better])
        trainer.learn(o, tried, [float(w[better]) for w in tried], greedy)
    trainer.flush()
    o = Observation(TWO_ROUTES, shares, np.ones(6), np.zeros(2))
    return float(trainer.router.weights(o)[better])


@pytest.mark.parametrize("prior", [0.02, 0.2, 0.5, 0.8, 0.98])
@pytest.mark.parametrize("better", [0, 1])
@pytest.mark.parametrize(
    "chosen",
    [
        replace(RouterSettings.two_routes(), rate=0.03),
        replace(RouterSettings.two_routes(), rate=0.03, samples=1, baseline=Baseline.SELF_CRITICAL),
        replace(RouterSettings.two_routes(), rate=0.03, samples=1, baseline=Baseline.EMA),
    ],
    ids=["group", "self_critical", "ema"],
)
def test_where_one_route_is_always_better_the_weights_move_there(
    chosen: RouterSettings, prior: float, better: int
) -> None:
    start = prior if better == 0 else 1 - prior
    learned = toy(chosen, prior, 400, better)
    assert math.log(learned / (1 - learned)) > math.log(start / (1 - start)) + 0.5


def test_the_published_router_moves_there_too() -> None:
    assert toy(RouterSettings.paper(), 0.5, 400) > 0.65


@pytest.mark.parametrize(
    ("chosen", "questions"),
    [
        (replace(RouterSettings.two_routes(), rate=0.03), 600),
        (replace(RouterSettings.paper(), rate=3e-3, samples=8, baseline=Baseline.GROUP), 1200),
    ],
    ids=["linear", "layers"],
)
def test_where_the_question_says_which_route_is_better_the_router_tells_them_apart(
    chosen: RouterSettings, questions: int
) -> None:
    rng = np.random.default_rng(4)
    router = Router.fresh(TWO_ROUTES, FEATURES, 6, hidden=chosen.hidden, bound=chosen.bound)
    trainer = RouterTrainer(router, chosen, seed=1)

    def asked(sign: float) -> Observation:
        features = np.asarray([sign, rng.standard_normal()])
        return Observation(TWO_ROUTES, np.asarray([0.5, 0.5]), rng.standard_normal(6), features)

    for _ in range(questions):
        better = int(rng.integers(2))
        o = asked(1.0 - 2 * better)
        tried = trainer.sample(o)
        trainer.learn(o, tried, [float(w[better]) for w in tried])
    dense, sparse = (
        np.mean([trainer.router.weights(asked(sign))[0] for _ in range(50)]) for sign in (1.0, -1.0)
    )
    assert dense > sparse + 0.25


def test_a_reward_that_ignores_the_weights_leaves_the_prior() -> None:
    chosen = replace(RouterSettings.two_routes(), samples=1, baseline=Baseline.SELF_CRITICAL)
    rng = np.random.default_rng(0)
    router = Router.fresh(TWO_ROUTES, FEATURES)
    trainer = RouterTrainer(router, chosen)
    for _ in range(50):
        o = Observation(TWO_ROUTES, np.asarray([0.3, 0.7]), np.zeros(0), rng.standard_normal(2))
        trainer.learn(o, trainer.sample(o), [0.6], greedy_reward=0.6)
    assert trainer.steps == 5
    assert trainer.router == router


def test_the_penalty_pulls_back_to_the_prior(trained: Trained, observed: Observed) -> None:
    chosen = replace(PLAIN, beta_kl=1.0, baseline=Baseline.SELF_CRITICAL, batch=5)
    trainer = RouterTrainer(trained(2, hidden=0), chosen)
    seen = [observed(i) for i in range(5)]

    def distance() -> float:
        return sum(float(kl(logits_of(trainer.router, o), np.log(o.prior))) for o in seen)

    before = distance()
    for _ in range(60):
        for o in seen:
            trainer.learn(o, [o.prior], [0.5], greedy_reward=0.5)
    assert distance() < before / 2


def test_listwise_learns_which_route_finds_the_gold(observed: Observed) -> None:
    chosen = replace(RouterSettings(), rate=0.02)
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), chosen)
    rng = np.random.default_rng(0)
    losses = []
    for i in range(300):
        o, scores, target = observed(i), rng.random((8, 3)), np.zeros(8)
        target[int(scores[:, 2].argmax())] = 1  # the third route always knows
        case = Ranked(scores, np.zeros(8), target)
        losses.append(case.loss(trainer.router.weights(o), o.prior, 1.0))
        trainer.learn_listwise(o, scores, np.zeros(8), target)
    router = trainer.router
    assert np.mean(losses[-50:]) < np.mean(losses[:50]) - 0.1
    assert all(router.weights(o)[2] > o.prior[2] for o in map(observed, range(20)))


def test_listwise_passes_over_questions_that_teach_nothing(observed: Observed) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    for target in ([0.0, 0.0], [1.0, 1.0]):
        learned = trainer.learn_listwise(
            observed(0), np.ones((2, 3)), np.zeros(2), np.asarray(target)
        )
        assert not learned
    assert trainer.pending == 0


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 15))
def test_only_the_order_of_interactions_counts(observed: Observed, seed: int, many: int) -> None:
    given_ones = interactions(many, observed, seed)
    quiet, curious = (RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN, s) for s in (1, 2))
    for o, tried, rewards in given_ones:
        quiet.learn(o, tried, rewards)
        curious.sample(o)
        curious.learn(o, tried, rewards)
    quiet.flush()
    curious.flush()
    assert quiet.router.to_bytes() == curious.router.to_bytes()


def test_another_order_is_another_router(observed: Observed) -> None:
    there, back = (RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN) for _ in range(2))
    given_ones = interactions(8, observed)
    for trainer, order in ((there, given_ones), (back, given_ones[::-1])):
        for o, tried, rewards in order:
            trainer.learn(o, tried, rewards)
    assert there.router != back.router


@pytest.mark.parametrize("chosen", [RouterSettings.two_routes(), RouterSettings.paper()])
def test_equal_seeds_give_byte_identical_routers(chosen: RouterSettings) -> None:
    routers = []
    for seed in (3, 3, 4):
        router = Router.fresh(TWO_ROUTES, FEATURES, 6, hidden=chosen.hidden, bound=chosen.bound)
        trainer = RouterTrainer(router, chosen, seed)
        rng = np.random.default_rng(0)
        for _ in range(25):
            o = Observation(
                TWO_ROUTES, np.asarray([0.4, 0.6]), rng.standard_normal(6), rng.standard_normal(2)
            )
            tried = trainer.sample(o)
            trainer.learn(o, tried, [float(w[0]) for w in tried])
        trainer.flush()
        routers.append(trainer.router.to_bytes())
    assert routers[0] == routers[1] != routers[2]


def test_what_is_left_of_a_batch_is_learned_at_the_flush(observed: Observed) -> None:
    whole = RouterTrainer(Router.fresh(ROUTES, FEATURES), replace(PLAIN, batch=3))
    left = RouterTrainer(Router.fresh(ROUTES, FEATURES), replace(PLAIN, batch=10))
    for o, tried, rewards in interactions(3, observed):
        whole.learn(o, tried, rewards)
        left.learn(o, tried, rewards)
    assert (whole.steps, whole.pending) == (1, 0)
    assert (left.steps, left.pending) == (0, 3)
    assert left.router.untrained
    left.flush()
    left.flush()
    assert (left.steps, left.pending) == (1, 0)
    assert left.router == whole.router


def test_samples_are_drawn_around_the_router(trained: Trained, observed: Observed) -> None:
    router, o = trained(3, hidden=0), observed(1)
    chosen = RouterSettings(samples=4000, kappa=50)
    drawn = np.asarray(RouterTrainer(router, chosen, seed=1).sample(o))
    assert drawn.shape == (4000, 3)
    pi = Policy(50).mean(np.log(router.weights(o)))
    assert drawn.mean(axis=0) == pytest.approx(pi, abs=4 * 0.5 / math.sqrt(51 * 4000))


def test_statistics_of_features_are_fixed_once(observed: Observed) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    seen = [observed(i) for i in range(20)]
    assert trainer.fit_features(seen)
    mean = np.mean([o.features for o in seen], axis=0)
    assert trainer.router.arrays["feature_mean"] == pytest.approx(mean)
    assert not trainer.fit_features(seen[:5])
    assert trainer.router.arrays["feature_mean"] == pytest.approx(mean)
    assert trainer.router.weights(seen[0]).tolist() == seen[0].prior.tolist()


def test_a_router_that_has_learned_keeps_its_statistics(observed: Observed) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), replace(PLAIN, batch=2))
    for o, tried, rewards in interactions(2, observed):
        trainer.learn(o, tried, rewards)
    assert not trainer.router.untrained
    assert not trainer.fit_features([observed(5), observed(6)])
    assert not trainer.router.has_statistics


def test_what_waits_to_be_learned_keeps_the_statistics_it_was_seen_with(
    observed: Observed,
) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    ((o, tried, rewards),) = interactions(1, observed)
    trainer.learn(o, tried, rewards)
    assert not trainer.fit_features([observed(5), observed(6)])


@pytest.mark.parametrize("reward", [-0.01, 1.01, math.nan, math.inf])
def test_a_reward_outside_its_range_is_refused(observed: Observed, reward: float) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    ((o, tried, _),) = interactions(1, observed)
    with pytest.raises(InputError, match=r"rewards must lie in \[0, 1\]"):
        trainer.learn(o, tried, [reward])
    with pytest.raises(InputError, match=r"rewards must lie in \[0, 1\]"):
        trainer.learn(o, tried, [0.5], greedy_reward=reward)
    assert trainer.pending == 0


@pytest.mark.parametrize(
    ("tried", "rewards", "words"),
    [
        ([], [], "1 or more tried weights"),
        ([[0.2, 0.3, 0.5]], [0.1, 0.2], "a reward for each"),
        ([[0.5, 0.5]], [0.1], "3 numbers of 0 or more with sum 1"),
        ([[0.5, 0.6, -0.1]], [0.1], "3 numbers of 0 or more with sum 1"),
        ([[0.5, 0.5, 0.5]], [0.1], "3 numbers of 0 or more with sum 1"),
        ([[0.5, 0.5, math.nan]], [0.1], "3 numbers of 0 or more with sum 1"),
    ],
)
def test_weights_that_cannot_have_been_tried_are_refused(
    observed: Observed, tried: list[list[float]], rewards: list[float], words: str
) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    with pytest.raises(InputError, match=words):
        trainer.learn(observed(0), [np.asarray(w) for w in tried], rewards)
    assert trainer.pending == 0


def test_each_baseline_says_what_it_lacks(observed: Observed) -> None:
    ((o, tried, rewards),) = interactions(1, observed)
    fresh = Router.fresh(ROUTES, FEATURES)
    group = RouterTrainer(fresh, RouterSettings())
    with pytest.raises(InputError, match="2 or more tried weights"):
        group.learn(o, tried, rewards)
    critical = RouterTrainer(fresh, replace(PLAIN, baseline=Baseline.SELF_CRITICAL))
    with pytest.raises(InputError, match="needs greedy_reward"):
        critical.learn(o, tried, rewards)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (replace(PLAIN, hidden=3), "settings say router hidden 3, this router has 0"),
        (replace(PLAIN, bound=None), "settings say router bound None, this router has 1.5"),
        (replace(PLAIN, strength=0.5), "settings say router strength"),
        (RouterSettings(exploration="beta"), "set router exploration to dirichlet"),  # type: ignore[arg-type]
        (replace(PLAIN, floor=0.4), "set floor below"),
    ],
)
def test_settings_for_another_router_are_refused(chosen: RouterSettings, words: str) -> None:
    with pytest.raises(InputError, match=words):
        RouterTrainer(Router.fresh(ROUTES, FEATURES), chosen)


def test_scores_for_other_routes_are_refused(observed: Observed) -> None:
    trainer = RouterTrainer(Router.fresh(ROUTES, FEATURES), PLAIN)
    with pytest.raises(InputError, match="a column for each of 3 routes, got 2"):
        trainer.learn_listwise(observed(0), np.ones((2, 2)), np.zeros(2), np.asarray([1.0, 0]))
