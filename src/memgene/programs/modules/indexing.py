"""Slot `indexing`: what finds pieces, and which text of a piece it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from memgene.programs.modules.part import Part, method
from memgene.programs.modules.recipe import Recipe
from memgene.programs.modules.storage import SPEAKER

ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "vectors": "vectors",
        "words": "BM25",
        "overlap": "the rarity of shared words",
        "bank": "the bank",
    }
)
CALLS: Mapping[str, str] = MappingProxyType(
    {
        "vectors": "self._by_vectors(query.query_text)",
        "words": "self._by_words(query.query_text)",
        "overlap": "self._by_overlap(query.query_text)",
        "bank": "self._by_bank(query.query_text)",
    }
)

COMMON = """COMMON = (
        "a an and are as at be been but by can could did do does for from had has have he her "
        "him his how i if in is it its me my of on or our she should so than that the their "
        "them then there they this to was we were what when where which who whom whose why "
        "will with would you your"
    )"""
"""Words that every text has."""
_DEPTH = "DEPTH = 60"
TERMS = method('''
    def _terms(self, text: str) -> list[str]:
        """Its words in lower case, each once, without those that every text has."""
        common = self.COMMON.split()
        words = re.findall(r"[^\\W_]+", text.lower())
        return [word for word in dict.fromkeys(words) if word not in common]
''')
_STEMS = method('''
    def _stems(self, text: str) -> list[str]:
        """Its words without common endings, so that `painted` and `paints` are one."""
        return [re.sub(r"(?<=\\w{3})(?:ing|ed|es|s|ly)$", "", word) for word in self._terms(text)]
''')
_VECTORS = Part(
    constants=(_DEPTH,),
    init=('self.vectors = toolkit.chroma.get_or_create_collection("pieces")',),
    methods=(
        method('''
            def _by_vectors(self, query: str) -> dict[int, float]:
                """The pieces nearest to the query."""
                deep = min(self.DEPTH, len(self.pieces))
                found = self.vectors.query(query_texts=[query], n_results=deep)
                near = zip(found["ids"][0], found["distances"][0], strict=True)
                return {int(number): -distance for number, distance in near}
        '''),
    ),
)
_MATCHES = '''
    def _by_words(self, query: str) -> dict[int, float]:
        """{about}"""
        match = " OR ".join(f'"{{term}}"' for term in self._terms(query))
        if not match:
            return {{}}
        rows = self.toolkit.db.execute(
            "SELECT rowid, -{bm25} AS score FROM words WHERE words MATCH ? "
            "ORDER BY score DESC, rowid LIMIT ?",
            (match, self.DEPTH),
        )
        return dict(rows.fetchall())
'''
_WORDS = Part(
    ("re",),
    (_DEPTH, COMMON),
    (
        "toolkit.db.execute(",
        "    \"CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')\"",
        ")",
    ),
    methods=(
        method(
            _MATCHES.format(
                about="BM25 of the pieces that share a word with it.", bm25="bm25(words)"
            )
        ),
        TERMS,
    ),
)
_WIDE_WORDS = Part(
    ("re",),
    (_DEPTH, COMMON),
    (
        "toolkit.db.execute(",
        "    \"CREATE VIRTUAL TABLE words USING fts5(own, beside, tokenize = 'porter unicode61')\"",
        ")",
    ),
    methods=(
        method(
            _MATCHES.format(
                about="BM25; words beside a piece count half as much as its own.",
                bm25="bm25(words, 1.0, 0.5)",
            )
        ),
        TERMS,
    ),
)
_OVERLAP = Part(
    ("math", "re"),
    (_DEPTH, COMMON),
    ("# The pieces in which a word stands.", "self.holders: dict[str, list[int]] = {}"),
    methods=(
        method('''
            def _by_overlap(self, query: str) -> dict[int, float]:
                """Shared words, the rare ones counting more."""
                scores: dict[int, float] = {}
                for stem in dict.fromkeys(self._stems(query)):
                    holders = self.holders.get(stem, [])
                    rarity = math.log(1 + len(self.pieces) / (1 + len(holders)))
                    for number in holders:
                        scores[number] = scores.get(number, 0.0) + rarity
                best = sorted(scores, key=lambda number: (-scores[number], number))
                return {number: scores[number] for number in best[: self.DEPTH]}
        '''),
        TERMS,
        _STEMS,
    ),
)
_BANK = Part(
    ("re",),
    (_DEPTH, SPEAKER),
    ("self.bank = toolkit.bank",),
    (
        "for number, piece in enumerate(pieces, first):",
        "    who = self.SPEAKER.match(piece)",
        '    name = who.group() if who else ""',
        "    self.bank.add(",
        "        piece[len(name) :],",
        "        source=str(self.texts),",
        '        speaker=name.rstrip(": ") or None,',
        "        time=date or None,",
        '        metadata={"number": number},',
        "    )",
    ),
    methods=(
        method('''
            def _by_bank(self, query: str) -> dict[int, float]:
                """What the bank of the toolkit finds, by words, meaning, speaker and date."""
                found = self.bank.search(query, limit=self.DEPTH)
                return {hit.metadata["number"]: hit.score for hit in found}
        '''),
    ),
)
_REACH: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        "before": (
            "# Each with the piece before it: an answer often makes sense only after its question.",
            '"\\n".join(pieces[max(0, i - 1) : i + 1])',
            ('beside = [" ".join(pieces[max(0, i - 1) : i]) for i in range(len(pieces))]',),
        ),
        "around": (
            "# Each with the pieces beside it: a piece alone often does not say what it is about.",
            '"\\n".join(pieces[max(0, i - 1) : i + 2])',
            (
                "beside = [",
                '    " ".join(pieces[max(0, i - 1) : i] + pieces[i + 1 : i + 2]) '
                "for i in range(len(pieces))",
                "]",
            ),
        ),
    }
)
"""Why a piece is indexed with those beside it, all their text, and the text of the others alone."""


def indexing(recipe: Recipe) -> Part:
    """What is indexed at write, and one method per signal that finds it."""
    part = Part()
    for signal in recipe.found_by:
        if signal == "vectors":
            part += _VECTORS + _write_vectors(recipe.vectors_reach)
        elif signal == "words":
            part += _WORDS if recipe.words_reach == "alone" else _WIDE_WORDS
            part += _said_once(_write_words(recipe.words_reach), part)
        elif signal == "bank":
            part += _BANK
        else:
            part += _OVERLAP + _said_once(_write_overlap(recipe.words_reach), part)
    return part


def _said_once(added: Part, before: Part) -> Part:
    """Without comments that stand in the lines before."""
    said = {line for line in before.write if line.startswith("#")}
    return replace(added, write=tuple(line for line in added.write if line not in said))


def _write_vectors(reach: str) -> Part:
    ids = "ids=[str(first + i) for i in range(len(pieces))]"
    if reach == "alone":
        return Part(write=(f"self.vectors.add(documents=pieces, {ids})",))
    why, joined, _ = _REACH[reach]
    return Part(
        write=(
            why,
            f"documents = [{joined} for i in range(len(pieces))]",
            f"self.vectors.add(documents=documents, {ids})",
        )
    )


def _write_words(reach: str) -> Part:
    if reach == "alone":
        return Part(
            write=(
                "self.toolkit.db.executemany(",
                '    "INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(pieces, first)',
                ")",
            )
        )
    why, _, beside = _REACH[reach]
    return Part(
        write=(
            why,
            *beside,
            "self.toolkit.db.executemany(",
            '    "INSERT INTO words (rowid, own, beside) VALUES (?, ?, ?)",',
            "    zip(range(first, len(self.pieces)), pieces, beside, strict=True),",
            ")",
        )
    )


def _write_overlap(reach: str) -> Part:
    if reach == "alone":
        why: tuple[str, ...] = ()
        text = "piece"
        loop = "for number, piece in enumerate(pieces, first):"
    else:
        said, text, _ = _REACH[reach]
        why = (said,)
        loop = "for i in range(len(pieces)):"
    number = "number" if reach == "alone" else "first + i"
    return Part(
        write=(
            *why,
            loop,
            f"    for stem in dict.fromkeys(self._stems({text})):",
            f"        self.holders.setdefault(stem, []).append({number})",
        )
    )
