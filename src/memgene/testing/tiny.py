"""A task small enough to work out by hand: six groups, four questions each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memgene.bank.unit import render_date
from memgene.core import Episode, Gold, LabelledQuestion, Message, Question, stable_id
from memgene.tasks.task import Regime, Task


@dataclass(frozen=True, slots=True)
class _Place:
    """What is told about one place, and so the answers to its questions."""

    name: str
    opened: datetime
    door: str
    bought: str
    planned: str


_PLACES = (
    _Place("bakery", datetime(2024, 3, 4), "bronze", "kneading trough", "flour scale"),
    _Place("boathouse", datetime(2024, 4, 11), "scarlet", "brass winch", "rope ladder"),
    _Place("greenhouse", datetime(2024, 5, 2), "white", "watering can", "seed tray"),
    _Place("library", datetime(2024, 6, 20), "blue", "rolling ladder", "reading lamp"),
    _Place("observatory", datetime(2024, 7, 9), "black", "star chart", "folding stool"),
    _Place("workshop", datetime(2024, 8, 30), "yellow", "bench vice", "wood plane"),
)


def tiny_task(regime: Regime = Regime.OWN_GROUP) -> Task:
    """Six places, each told of in two sessions of three messages, 24 questions.

    For a place P (`bakery`, `boathouse`, `greenhouse`, `library`, `observatory`, `workshop`):
    episodes `P:1` and `P:2`, messages `P:1:1` … `P:2:3`; questions `P/door` (category `fact`,
    evidence `P:1:3`), `P/opened` (`when`, `P:1:1`), `P/tools` (`list`, `P:2:1` and `P:2:3`) and
    `P/sign` (`unanswerable`, set apart: no answer, no evidence).
    """
    episodes = tuple(episode for place in _PLACES for episode in _episodes(place))
    questions = tuple(question for place in _PLACES for question in _questions(place))
    told = (episode.text for episode in episodes)
    asked = (question.question.text for question in questions)
    return Task(
        name="tiny",
        episodes=episodes,
        questions=questions,
        regime=regime,
        metric="token_f1",
        fingerprint=stable_id(*told, *asked),
        set_apart=frozenset({"unanswerable"}),
        licence="Apache-2.0",
    )


def _episodes(place: _Place) -> tuple[Episode, Episode]:
    later = place.opened.replace(day=place.opened.day - 1, month=place.opened.month + 1)
    first = (
        ("user", f"Today my {place.name} opened its doors."),
        ("assistant", "Congratulations! What does the entrance look like?"),
        ("user", f"It has a {place.door} door."),
    )
    second = (
        ("user", f"I bought a {place.bought} for the {place.name}."),
        ("assistant", "That will help. Is anything still missing?"),
        ("user", f"Next I want to buy a {place.planned}."),
    )
    return _episode(place, 1, place.opened, first), _episode(place, 2, later, second)


def _episode(
    place: _Place, number: int, time: datetime, lines: tuple[tuple[str, str], ...]
) -> Episode:
    name = f"{place.name}:{number}"
    messages = tuple(
        Message(text=text, id=f"{name}:{turn}", speaker=speaker)
        for turn, (speaker, text) in enumerate(lines, start=1)
    )
    return Episode(id=name, messages=messages, group=place.name, time=time)


def _questions(place: _Place) -> tuple[LabelledQuestion, ...]:
    name = place.name
    opened = render_date(place.opened)
    return (
        _question(
            name, "door", f"What colour is the door of the {name}?", place.door, "fact", "1:3"
        ),
        _question(name, "opened", f"When did the {name} open?", opened, "when", "1:1"),
        _question(
            name,
            "tools",
            f"Which tools does the {name} have or need?",
            f"{place.bought}, {place.planned}",
            "list",
            "2:1",
            "2:3",
        ),
        _question(name, "sign", f"Who painted the sign of the {name}?", None, "unanswerable"),
    )


def _question(
    group: str, kind: str, text: str, answer: str | None, category: str, *evidence: str
) -> LabelledQuestion:
    return LabelledQuestion(
        Question(id=f"{group}/{kind}", text=text, group=group),
        Gold(
            answers=() if answer is None else (answer,),
            evidence=tuple(f"{group}:{place}" for place in evidence),
            category=category,
        ),
    )
