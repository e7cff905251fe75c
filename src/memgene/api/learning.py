"""Learning from use: rewards, idle-time lessons, and taking them back."""

from __future__ import annotations

from memgene.api import checking
from memgene.api.filters import scope_if_given
from memgene.api.learned import FeedbackReceipt, LearnReceipt, LearnStep, LessonRecord, Lessons
from memgene.api.lookup import several
from memgene.api.rewarded import Feedback, learned, use_of
from memgene.bank.protocol import Bank, Lesson
from memgene.core import InputError, NotFoundError
from memgene.engine import MemoryEngine
from memgene.engine.credit.give import give_credit
from memgene.engine.credit.interaction import Interaction
from memgene.engine.credit.settings import CreditSettings
from memgene.engine.online import FEEDBACK, LEARN, LOG, Progress, learn

_EVERY = 1 << 62
_KINDS = {FEEDBACK: (FEEDBACK, LOG), LEARN: (LEARN,)}


class Learning:
    """How a `Memory` learns from the use that is made of it."""

    _bank: Bank

    @property
    def _engine(self) -> MemoryEngine:
        raise NotImplementedError

    def _refuse(self, verb: str) -> None:
        """Raises InputError where what this memory searches by cannot learn."""
        raise NotImplementedError

    def feedback(
        self,
        hits_or_ids: Feedback,
        reward: float,
        query: str | None = None,
        *,
        answer: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        apply: bool = True,
    ) -> FeedbackReceipt:
        """Tell how useful memories were: reward 0 (useless) to 1 (it was this one).

        Hits or ids that are named count as used, each of them. Of a whole SearchResult those hits
        count as used whose words the `answer` has (at least half of the content words of one of
        its parts); without an answer, or where it has none's, the first hit. The others were
        merely shown: that is logged, and their values stay. So name the hits where it is known
        which ones helped.

        The utility of what was used moves as `Q ← Q + 0.3 · (reward − Q)`, over all queries and
        for this kind of query; `query` is by default what the hits were found for. It counts in
        later searches by the configuration's `utility_weight`. With `apply=False` the reward is
        only logged, which needs no embedder, and `learn` credits it. `undo` takes either back.

        Raises NotFoundError for an unknown id, and for another owner's when any of the owner's
        ids is given; then nothing is changed.
        """
        self._refuse("feedback")
        reward = checking.share(reward, "reward")
        use = use_of(hits_or_ids, query, answer)
        scope = scope_if_given(user_id, agent_id, run_id)
        engine = self._creditor(use.query) if apply else None  # made before the lock is taken
        credited = None
        with self._bank.atomic():
            with self._bank.lesson(FEEDBACK if apply else LOG):
                units = several(self._bank, use.ids, scope)
                if engine is not None:
                    about = Interaction(use.query, use.exposed, reward)
                    credited = give_credit(engine, about, CreditSettings(), scope=scope)
                parts = [one.attribution for one in use.exposed]
                self._bank.touch(use.ids, reward, use.query, parts)
            values = self._bank.values(use.ids)
            (lesson,) = self._bank.lessons(1)
        kind = "" if credited is None else credited.cluster
        found = learned(units, use.exposed, credited, values)
        return FeedbackReceipt(found, kind, lesson.number, applied=apply)

    def learn(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        most: int | None = None,
        progress: Progress | None = None,
    ) -> LearnReceipt:
        """Learn what is too slow to learn in passing; for when the memory is idle.

        One lesson, which `undo` takes back: rewards that were only logged are credited, new
        memories are linked, a router is trained from the logged queries and kept if it finds
        their memories better on the fifth that it was not trained on. With `most`, memories above
        so many are archived: first the superseded, then what was never rewarded, then the least
        valuable. A step that changes nothing says why.

        Later searches with this configuration and embedder use the router, unless the
        configuration has its own. For every owner; with an owner's ids for that one only, and
        then no router is trained, because it serves all of them. `progress(done, total, what)` is
        called as the work goes on.
        """
        self._refuse("learn")
        if most is not None:
            most = checking.whole(most, "most", 1)
        scope = scope_if_given(user_id, agent_id, run_id)
        learnt = learn(self._engine, scope, most=most, progress=progress)
        return LearnReceipt(tuple(map(LearnStep.of, learnt.steps)), learnt.lesson)

    def undo(self, kind: str | None = None, *, all: bool = False, to: int | None = None) -> Lessons:
        """Take back the newest lesson, and say which: what it changed is as it was before.

        `all=True` takes back every lesson, `to=` those with a higher number than that. With `kind`
        (`feedback`, applied or only logged, or `learn`) they must be of that kind. The history
        shows both, what was learned and that it was taken back. All of it or, if one lesson cannot
        be taken back, nothing.

        Raises NotFoundError when there is no lesson to take back; InputError when it is of another
        kind, or something else changed one of its memories since.
        """
        if all and to is not None:
            raise InputError("undo takes all=True or to=, not both")
        if kind is not None and kind not in _KINDS:
            raise InputError(f"kind must be one of {', '.join(_KINDS)}, got {kind!r}")
        last = 0 if all else None if to is None else checking.whole(to, "to", 0)
        with self._bank.atomic():
            chosen = self._standing(last)
            for lesson in chosen:
                if kind is not None and lesson.kind not in _KINDS[kind]:
                    raise InputError(
                        f"lesson {lesson.number} is not {kind} but {lesson.kind}, and undo takes "
                        "back the newest first"
                    )
                self._bank.undo(lesson)
        return Lessons(tuple(LessonRecord.of(lesson, undone=True) for lesson in chosen))

    def lessons(self, limit: int = 100, *, undone: bool = False) -> Lessons:
        """The newest lessons, newest first; with `undone` also those that were taken back."""
        limit = checking.whole(limit, "limit", 1)
        return Lessons(tuple(map(LessonRecord.of, self._bank.lessons(limit, undone=undone))))

    def _creditor(self, query: str | None) -> MemoryEngine:
        """The engine; where there is no query to embed, one that needs no embedder."""
        return MemoryEngine(self._bank, None) if query is None else self._engine

    def _standing(self, last: int | None) -> list[Lesson]:
        """The lessons after `last`, newest first; without it, the newest alone."""
        if last is None:
            found = self._bank.lessons(1)
        else:
            found = [one for one in self._bank.lessons(_EVERY) if one.number > last]
        if not found:
            raise NotFoundError("there is no lesson to take back")
        return found
