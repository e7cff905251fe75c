"""Full-text search: words by stem, terms of unspaced scripts as substrings."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence

from memgene.bank.protocol import Filter, TextMatch
from memgene.bank.scripts import is_unspaced
from memgene.bank.sqlite.codec import storable
from memgene.bank.sqlite.conditions import Conditions, chunks, conditions, marks
from memgene.bank.sqlite.schema import OWNER_CLOSE, OWNER_OPEN
from memgene.core import Scope

_GRAM = 3
_K1 = 1.2  # as in FTS5's bm25
_LOWEST_IDF = 1e-6  # FTS5's floor for terms that most units hold
_LAST_CHARACTER = chr(0x10FFFF)
_BEGINS = "col = 'content' AND term >= ? AND term < ?"
_WEIGHTS = {"words": "1, 1, 1, 1, 0", "grams": "1, 0"}  # the owner's token scores nothing


def search_text(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    scope: Scope | None,
    limit: int,
    where: Filter | None,
) -> list[TextMatch]:
    """See `Bank.search_text`."""
    return _named(connection, match_text(connection, terms, scope, limit, where))


def match_text(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    scope: Scope | None,
    limit: int,
    where: Filter | None,
) -> list[tuple[int, float]]:
    """See `Bank.match_text`. BM25 over the whole bank; a unit's score adds up over the terms."""
    words, grams, short = _sorted_out(terms)
    admitted = conditions(connection, scope, where, indexed=True)
    if limit < 1 or admitted.nothing or not (words or grams or short):
        return []
    if not (grams or short):
        return _ranked(connection, "words", words, admitted, limit)
    scores: dict[int, float] = {}
    for found in (
        _ranked(connection, "words", words, admitted, -1),
        _ranked(connection, "grams", grams, admitted, -1),
        *(_short(connection, term, conditions(connection, scope, where)) for term in short),
    ):
        for seq, score in found:
            scores[seq] = scores.get(seq, 0.0) + score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def document_frequency(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """See `Bank.document_frequency`. Counted by the index itself, so the stems always agree."""
    counts = dict.fromkeys(terms, 0)
    for term in counts:
        words, grams, short = _sorted_out([term])
        index = "words" if words else "grams"
        sql, parameters = (
            f"SELECT count(*) FROM {index} WHERE {index} MATCH ?",
            [_either(words or grams)],
        )
        if short:
            sql = f"SELECT count(DISTINCT doc) FROM gram_places WHERE {_BEGINS}"
            parameters = [*_prefix(short[0])]
        elif not (words or grams):
            continue
        counts[term] = connection.execute(sql, parameters).fetchone()[0]
    return counts


def _sorted_out(terms: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Terms for the word index, for the trigram index, and those shorter than a trigram."""
    words, grams, short = [], [], []
    for term in dict.fromkeys(t.strip() for t in terms):
        if not term or not storable(term) or OWNER_OPEN in term:
            continue
        if not is_unspaced(term):
            words.append(term)
        elif len(term) < _GRAM:
            short.append(term)
        else:
            grams.append(term)
    return words, grams, short


def _either(terms: Sequence[str]) -> str:
    """An FTS5 expression for any of the terms; quoted, so no text can be an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _ranked(
    connection: sqlite3.Connection,
    index: str,
    terms: Sequence[str],
    admitted: Conditions,
    limit: int,
) -> list[tuple[int, float]]:
    """Sequence numbers and scores, best first; the check per unit is left out where it can be."""
    if not terms:
        return []
    expression = _either(terms)
    if admitted.owner is not None:
        token = f"{OWNER_OPEN}{admitted.owner}{OWNER_CLOSE}"
        expression = f'owner : "{token}" AND ({expression})'
    check = ""
    if admitted.parts:
        check = (
            f"AND EXISTS (SELECT 1 FROM units u WHERE u.seq = {index}.rowid AND {admitted.sql()})"
        )
    sql = (
        f"SELECT rowid, -bm25({index}, {_WEIGHTS[index]}) AS score FROM {index}"
        f" WHERE {index} MATCH ? {check} ORDER BY score DESC, rowid LIMIT ?"
    )
    return connection.execute(sql, (expression, *admitted.parameters, limit)).fetchall()


def _short(
    connection: sqlite3.Connection, term: str, admitted: Conditions
) -> list[tuple[int, float]]:
    """Units that hold a term of one or two characters: it begins one of their trigrams.

    BM25 without the length of the unit, which the index of places does not tell.
    """
    units = connection.execute("SELECT count(*) FROM grams_docsize").fetchone()[0]
    rows = connection.execute(
        "SELECT doc, count(*), EXISTS"
        f" (SELECT 1 FROM units u WHERE u.seq = doc AND u.status = 'active' AND {admitted.sql()})"
        f" FROM gram_places WHERE {_BEGINS} GROUP BY doc",
        (*admitted.parameters, *_prefix(term)),
    ).fetchall()
    idf = max(math.log((units - len(rows) + 0.5) / (len(rows) + 0.5)), _LOWEST_IDF)
    return [(seq, idf * tf * (_K1 + 1) / (tf + _K1)) for seq, tf, seen in rows if seen]


def _prefix(term: str) -> tuple[str, str]:
    """The range of trigrams that begin with the term, which the index keeps in lower case."""
    return term.lower(), term.lower() + _LAST_CHARACTER


def _named(connection: sqlite3.Connection, ranked: Sequence[tuple[int, float]]) -> list[TextMatch]:
    ids: dict[int, str] = {}
    for some in chunks([seq for seq, _ in ranked]):
        ids.update(
            connection.execute(f"SELECT seq, id FROM units WHERE seq IN ({marks(some)})", some)
        )
    return [TextMatch(ids[seq], score) for seq, score in ranked]
