"""Slot `showing`: from an order of pieces to a text that fits into a read."""

from __future__ import annotations

from memgene.programs.modules.part import Part, method
from memgene.programs.modules.recipe import Recipe
from memgene.programs.modules.storage import SEVERAL_LINES

_NEIGHBOURS = '''
    def _with_neighbours(self, ranking: list[int]) -> list[int]:
        """{about}"""
        shown: dict[int, None] = {{}}
        for number in ranking:
            for near in {places}:
                inside = 0 <= near < len(self.pieces)
                if inside and self.sources[near] == self.sources[number]:
                    shown.setdefault(near)
        return list(shown)
'''
_PER_SOURCE = method('''
    def _few_of_each(self, ranking: list[int]) -> list[int]:
        """At most so many pieces of one text, for a question may need several texts."""
        taken: dict[int, int] = {}
        kept: list[int] = []
        for number in ranking:
            source = self.sources[number]
            taken[source] = taken.get(source, 0) + 1
            if taken[source] <= self.PER_TEXT:
                kept.append(number)
        return kept
''')
_DEDUPE = method('''
    def _without_repeats(self, ranking: list[int]) -> list[int]:
        """What says the same in the same words is shown once, where it ranks best."""
        seen: dict[str, int] = {}
        for number in ranking:
            seen.setdefault(" ".join(self.pieces[number].lower().split()), number)
        return list(seen.values())
''')
_FITTING = method('''
    def _fitting(self, ranking: list[int]) -> list[int]:
        """The best ones that fit into a read whole; a long one gives way to shorter ones."""
        room = self.LIMIT
        kept: list[int] = []
        for number in ranking:
            needed = len(self._dated_piece(number)) + 1
            if needed <= room:
                room -= needed
                kept.append(number)
        return kept
''')
_ONE_LINE = method('''
    def _dated_piece(self, number: int) -> str:
        """A piece with its date in front."""
        date = self.dates[number]
        return f"[{date}] {self.pieces[number]}" if date else self.pieces[number]
''')
_MORE_LINES = method('''
    def _dated_piece(self, number: int) -> str:
        """A piece with its date above."""
        date = self.dates[number]
        return f"[{date}]\\n{self.pieces[number]}" if date else self.pieces[number]
''')
_GROUPED = method('''
    def _grouped(self, ranking: list[int]) -> str:
        """Pieces under the date of their text, in its own order; the best text comes first."""
        room = self.LIMIT
        texts: dict[int, list[int]] = {}
        for number in ranking:
            source = self.sources[number]
            needed = len(self.pieces[number]) + 1
            needed += 0 if source in texts else len(f"[{self.dates[number]}]\\n")
            if needed <= room:
                room -= needed
                texts.setdefault(source, []).append(number)
        lines: list[str] = []
        for numbers in texts.values():
            date = self.dates[numbers[0]]
            lines += [f"[{date}]"] if date else []
            lines += [self.pieces[number] for number in sorted(numbers)]
        return "\\n".join(lines)
''')


def showing(recipe: Recipe) -> Part:
    """Lines that turn `scores` into what a read returns, and the methods they call."""
    read = ["ranking = sorted(scores, key=lambda number: (-scores[number], number))"]
    constants = ["LIMIT = 3000"]
    methods: list[str] = []
    if recipe.dedupe:
        read.append("ranking = self._without_repeats(ranking)")
        methods.append(_DEDUPE)
    if recipe.per_source:
        read.append("ranking = self._few_of_each(ranking)")
        constants.append(f"PER_TEXT = {recipe.per_source}")
        methods.append(_PER_SOURCE)
    ranking = "ranking[: self.SHOWN]"
    constants.append(f"SHOWN = {recipe.limit}")
    if recipe.neighbours != "none":
        ranking = f"self._with_neighbours({ranking})"
        methods.append(method(_neighbours(recipe.neighbours)))
    read += _returned(recipe.order, ranking)
    if recipe.order == "grouped":
        methods.append(_GROUPED)
    else:
        methods += [_FITTING, _MORE_LINES if recipe.storage in SEVERAL_LINES else _ONE_LINE]
    return Part((), tuple(constants), (), (), tuple(read), tuple(methods))


def _returned(order: str, ranking: str) -> list[str]:
    if order == "grouped":
        return [f"return self._grouped({ranking})"]
    if order == "time":
        return [
            "# Shown as it happened, whatever found it.",
            f"kept = sorted(self._fitting({ranking}))",
            'return "\\n".join(self._dated_piece(number) for number in kept)',
        ]
    return [
        f"kept = self._fitting({ranking})",
        'return "\\n".join(self._dated_piece(number) for number in kept)',
    ]


def _neighbours(which: str) -> str:
    if which == "after":
        return _NEIGHBOURS.format(
            about="Each followed by the piece after it, where an answer often stands.",
            places="(number, number + 1)",
        )
    return _NEIGHBOURS.format(
        about="Each followed by the pieces beside it in its text.",
        places="(number, number - 1, number + 1)",
    )
