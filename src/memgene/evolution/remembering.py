"""A learner that fits the same thing once."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.core import LabelledQuestion, content_hash
from memgene.evolution.candidates import Learner
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.ranker import Ranker


class RememberingLearner:
    """Passes on to a deterministic learner what it has not fitted before.

    Learned-once and the first learned candidate often are the same fit.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._known: dict[str, Ranker] = {}

    def __call__(self, config: RetrievalConfig, questions: Sequence[LabelledQuestion]) -> Ranker:
        """Weights for a configuration, whatever weights and fusion it has now."""
        base = config.changed(fusion="weighted_sum", ranker=None)
        key = content_hash("\n".join([base.digest, *(q.id for q in questions)]))
        if key not in self._known:
            self._known[key] = self._learner(config, questions)
        return self._known[key]
