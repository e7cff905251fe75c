"""What a judge is told: one prompt for each kind of question, and one for a rubric's criterion.

The strict prompts want all of the right answer and nothing against it. The lenient ones do what
is customary where LoCoMo answers are judged: whatever means about the same counts. The kinds with
a rule of their own are those of LongMemEval (Wu et al. 2025): a value that changed, a count of
days, a preference, a question without an answer. The criterion prompt follows M* §8.

Rules come first and what is judged last, so that a server which keeps the beginning of a prompt
reads the rules once.
"""

from __future__ import annotations

from memgene.llm.prompts.prompt import Prompt

_PAIR = """\
Question: $question

Right answer: $gold

Given answer: $answer"""

_COMPARE = """\
You grade answers. Compare the given answer with the right answer and decide whether the given
answer is correct. Rules:"""

_DECIDE = """\
First say in one short sentence what the given answer says and what the right answer says. Then
decide."""

_STRICT_RULES = """\
- Everything in the right answer must be in the given answer: each name, number, place and item.
- Nothing in the given answer may contradict the right answer.
- The same meaning in other words is fine. Extra detail is fine when it contradicts nothing.
- An answer that is vague, partial, or only about the same topic is not correct."""

_LENIENT_RULES = """\
- Be generous. The given answer is correct when it means about the same as the right answer.
- Other words, a longer answer and extra detail are fine. The main point is enough.
- An answer that says something else, or nothing, is not correct."""

_STRICT_DATES = """\
- Dates and times must agree. How they are written does not matter: 2021-03-09 is 9 March 2021."""

_LENIENT_DATES = """\
- A date or time is correct when it means the same day or period, in any form, also in words like
  "the week before" or "last month"."""

_COUNTS = """\
- A number of days, weeks, months or years may be off by one: 18 days is correct for 19 days."""

_NEWEST = """\
- The value changed over time, and the right answer is the newest. An answer that also tells
  earlier values is correct when it gives the newest as the current one.
- An answer that gives only an earlier value is not correct."""


def _correctness(name: str, *rules: str) -> Prompt:
    """A prompt that compares an answer with the right one by these rules."""
    return Prompt(name, "\n".join((_COMPARE, *rules, "", _DECIDE)), _PAIR)


JUDGE_STRICT = _correctness("judge_strict", _STRICT_RULES, _STRICT_DATES)
JUDGE_STRICT_TEMPORAL = _correctness("judge_strict_temporal", _STRICT_RULES, _STRICT_DATES, _COUNTS)
JUDGE_STRICT_UPDATE = _correctness("judge_strict_update", _STRICT_RULES, _STRICT_DATES, _NEWEST)

JUDGE_LENIENT = _correctness("judge_lenient", _LENIENT_RULES, _LENIENT_DATES)
JUDGE_LENIENT_TEMPORAL = _correctness(
    "judge_lenient_temporal", _LENIENT_RULES, _LENIENT_DATES, _COUNTS
)
JUDGE_LENIENT_UPDATE = _correctness("judge_lenient_update", _LENIENT_RULES, _LENIENT_DATES, _NEWEST)

JUDGE_PREFERENCE = Prompt(
    "judge_preference",
    """\
You grade answers to users who ask for advice. A good answer uses what is known about the user.
Decide whether the given answer is correct. Rules:
- It is correct when it uses what is known about the user, and uses it rightly.
- It need not cover every point.
- Advice that would fit anybody, or that goes against what the user likes, is not correct.

First explain in one short sentence. Then decide.""",
    """\
User's question: $question

What a good answer takes into account: $gold

Given answer: $answer""",
)

JUDGE_ABSTENTION = Prompt(
    "judge_abstention",
    """\
You grade answers to questions that nobody can answer, because the facts were never told. Decide
whether the given answer is correct. Rules:
- It is correct when it says that the answer is not known, not mentioned or cannot be told.
  It may add what is known about related things.
- An answer that tells a fact as if it answered the question is not correct.

First explain in one short sentence. Then decide.""",
    """\
Question: $question

Given answer: $answer""",
)

RUBRIC_CRITERION = Prompt(
    "rubric_criterion",
    """\
You read a conversation and one criterion. Decide whether the last reply of the assistant meets
the criterion. Rules:
- Judge this criterion only, not whether the reply is good.
- When the criterion has several conditions, all of them must hold.
- Lists that begin with "such as", "for example" or "including" need not be complete.
- A criterion may describe something bad. It is met when the bad thing is there.

First explain in one short sentence. Then decide.""",
    """\
<conversation>
$conversation
</conversation>

<criterion>
$criterion
</criterion>""",
)
