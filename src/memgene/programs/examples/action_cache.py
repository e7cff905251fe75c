"""How household tasks were done, found by the object, the place and the state they ask for."""

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

INSTRUCTION_KNOWLEDGE_ITEM = (
    "Describe the task of this episode and how it was solved, or why it was not. Name objects and "
    "places as the text does, without their numbers. Leave empty what the text does not tell."
)
INSTRUCTION_QUERY = (
    "Describe the task: which object it is about, where that has to go, and in which state."
)
INSTRUCTION_RESPONSE = (
    "Choose the next action. Follow the steps above as far as they fit, with the object and the "
    "place of the present task in their stead. Answer with the action alone."
)
ALWAYS_ON_KNOWLEDGE = (
    "Find the object first, take it, bring it into the state that is asked for, then put it where "
    "it belongs. Do not search a place twice, and do not repeat an action that changed nothing."
)


@dataclass
class KnowledgeItem:
    """One task and how it went."""

    summary: str = field(metadata={"description": "the task and its outcome in one sentence"})
    task_type: str = field(metadata={"description": "kind of task, such as clean and place"})
    target_object: str = field(metadata={"description": "the object it is about, one word"})
    target_place: str = field(metadata={"description": "where the object has to go, one word"})
    required_state: str = field(metadata={"description": "clean, hot, cool, sliced, lit or empty"})
    action_hint: str = field(metadata={"description": "the actions that mattered, in order"})
    failure_mode: str = field(metadata={"description": "what went wrong, empty if nothing did"})
    keywords: list[str] = field(metadata={"description": "other words this should be found by"})


@dataclass
class Query:
    """The task at hand."""

    query_text: str = field(metadata={"description": "the task in its own words"})
    target_object: str = field(default="", metadata={"description": "the object, one word"})
    target_place: str = field(default="", metadata={"description": "the place, one word"})
    required_state: str = field(default="", metadata={"description": "the state, one word"})


class KnowledgeBase:
    """One row per episode. What an item leaves empty is read from the text of the episode."""

    LIMIT = 3000
    SHOWN = 6
    WORDS = 2  # a field of more words is no single object, place or state
    STATES: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("clean", "rinse", "wash", "cleaned", "washed"), "clean"),
        **dict.fromkeys(("hot", "heat", "warm", "heated", "warmed"), "hot"),
        **dict.fromkeys(("cool", "chill", "cold", "refrigerate", "cooled", "chilled"), "cool"),
        **dict.fromkeys(("slice", "cut", "sliced"), "sliced"),
        **dict.fromkeys(("examine", "look", "inspect", "lit"), "lit"),
    }
    # Words of a goal that name neither object nor place.
    FRAME = (
        "a an the some two it them and in on to at with under of into onto using by put place move "
        "find take get bring"
    )
    GOAL = re.compile(r"\b(?:task is to|task|goal)\s*:\s*([^\n.]+)", re.IGNORECASE)
    STEP = re.compile(r"^(?:\w+: |> ?)?((?:take|put|move|clean|heat|cool|slice|use) .+)$", re.M)
    FAILED = re.compile(r"\b(?:not solved|unsolved|failed|failure|gave up)\b", re.IGNORECASE)

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit
        toolkit.db.execute(
            "CREATE TABLE tasks (id INTEGER PRIMARY KEY, summary TEXT, type TEXT, object TEXT, "
            "place TEXT, state TEXT, hint TEXT, failure TEXT, keywords TEXT)"
        )

    def write(self, item: KnowledgeItem, raw_text: str) -> None:
        stated = self.GOAL.search(raw_text)
        goal = stated.group(1).strip() if stated else self._told(item.summary, raw_text)
        target, place, state = self._parts(goal or raw_text[:200])
        steps = [re.sub(r" \d+\b", "", step) for step in self.STEP.findall(raw_text)]
        failed = "it was not solved" if self.FAILED.search(raw_text) else ""
        row = (
            self._told(item.summary, raw_text) or goal,
            self._short(item.task_type),
            self._short(item.target_object) or target,
            self._short(item.target_place) or place,
            self._state(item.required_state) or state,
            self._told(item.action_hint, raw_text) or "; ".join(steps[:12]),
            self._told(item.failure_mode, raw_text) or failed,
            " ".join(dict.fromkeys(self._words(" ".join([goal, *item.keywords])))),
        )
        self.toolkit.db.execute("INSERT INTO tasks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.toolkit.logger.debug(f"stored: {row}")

    def read(self, query: Query) -> str:
        target, place, state = self._parts(query.query_text)
        target = self._short(query.target_object) or target
        place = self._short(query.target_place) or place
        state = self._state(query.required_state) or state
        asked = set(self._words(query.query_text))
        scored: list[tuple[float, str]] = []
        for row in self.toolkit.db.execute("SELECT * FROM tasks ORDER BY id").fetchall():
            score = len(asked & set(row[8].split())) + min(row[0], 1000) / 100_000
            score += 6 * (target != "" and row[3] == target)
            score += 5 * (place != "" and row[4] == place) + 5 * (row[5] == state)
            scored.append((score, self._rendered(row)))
        scored.sort(key=lambda pair: -pair[0])
        if not scored:
            return "No task is known yet."
        return self._advice(query, "\n\n".join(text for _, text in scored[: self.SHOWN]))

    def _advice(self, query: Query, rows: str) -> str:
        """Steps for this task from the rows of similar ones; the rows where no model is there."""
        request = (
            f"A household task: {query.query_text}\n\nSimilar tasks done before:\n\n{rows}\n\n"
            "Write short numbered steps for the present task: where to look for its object first, "
            "what to do with it and where, and what to avoid. Use only what stands above."
        )
        try:
            advice: str = self.toolkit.llm_completion([{"role": "user", "content": request}])
        except RuntimeError as problem:
            self.toolkit.logger.debug(f"no advice, the rows are shown: {problem}")
            return rows[: self.LIMIT]
        return (advice.strip() or rows)[: self.LIMIT]

    def _rendered(self, row: tuple[Any, ...]) -> str:
        """A row as lines. Steps of a failed attempt would only be copied, so they are not shown."""
        _, summary, _, target, place, state, hint, failure, _ = row
        about = f"Task: {summary}\nObject: {target}, place: {place}, state: {state or 'any'}"
        return f"{about}\nFailed: {failure}" if failure else f"{about}\nSteps: {hint}"

    def _parts(self, goal: str) -> tuple[str, str, str]:
        """Object, place and state that a goal names: its first and last word beside the frame."""
        words = self._words(goal)
        state = next((self.STATES[word] for word in words if word in self.STATES), "")
        frame = self.FRAME.split()
        named = [word for word in words if word not in frame and word not in self.STATES]
        return (named[0] if named else "", named[-1] if len(named) > 1 else "", state)

    def _state(self, text: str) -> str:
        """The one name of a state that has several."""
        word = self._short(text)
        return self.STATES.get(word, word)

    def _short(self, text: str) -> str:
        return text.strip().lower() if len(text.split()) <= self.WORDS else ""

    def _told(self, text: str, raw_text: str) -> str:
        """A field that says something of its own: neither long nor the whole episode again."""
        return "" if len(text) > 300 or raw_text.strip().endswith(text.strip()) else text.strip()

    def _words(self, text: str) -> list[str]:
        return re.findall(r"[a-z]+", text.lower())
