"""The tables of a bank, in the order they are created.

`units` holds the facts; everything else is derived from them or hangs on them. Scopes are
interned: `''` stands for an absent id (given ids are never empty). `owner` is one number per
user, indexed as a token, so that a search reads one user's postings only; numbers are never
used twice. The text indices read their rows from the views, which hold active units only; FTS5
allows no table-valued function in them, so lists are stored as plain words (codec.py).
"""

from __future__ import annotations

# MemoryUnit.rendered, in SQL: `[8 May 2023] speaker: content`.
_RENDERED = """
    CASE WHEN u.dated IS NULL THEN '' ELSE '[' || u.dated || '] ' END
    || CASE WHEN coalesce(u.speaker, '') = '' THEN '' ELSE u.speaker || ': ' END
    || u.content"""

OWNER_OPEN, OWNER_CLOSE = "\ue000", "\ue001"
_OWNER = f"char({ord(OWNER_OPEN)}) || s.owner || char({ord(OWNER_CLOSE)})"

FIRST = (
    """CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)""",
    """CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE scopes (
        num INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT NULL,
        owner INTEGER NOT NULL,
        UNIQUE (user_id, agent_id, run_id))""",
    """CREATE TABLE units (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        identity BLOB NOT NULL UNIQUE,
        scope INTEGER NOT NULL REFERENCES scopes (num),
        status TEXT NOT NULL,
        type TEXT NOT NULL,
        event_key INTEGER,
        dated TEXT,
        unspaced INTEGER NOT NULL,
        importance REAL NOT NULL, confidence REAL NOT NULL, utility REAL NOT NULL,
        reinforcement INTEGER NOT NULL, access_count INTEGER NOT NULL,
        source TEXT, turn_start INTEGER, turn_end INTEGER, speaker TEXT,
        supersedes TEXT, superseded_by TEXT,
        event_time TEXT, created TEXT, updated TEXT, last_accessed TEXT, expires TEXT,
        refs TEXT, entities TEXT, persons TEXT, locations TEXT, topics TEXT, keywords TEXT,
        tags TEXT, metadata TEXT, summary TEXT NOT NULL, content TEXT NOT NULL)""",
    """CREATE INDEX units_scope ON units (scope)""",
    """CREATE INDEX units_source ON units (source) WHERE source IS NOT NULL""",
    """CREATE INDEX units_supersedes ON units (supersedes) WHERE supersedes IS NOT NULL""",
    """CREATE INDEX units_superseded_by ON units (superseded_by)
        WHERE superseded_by IS NOT NULL""",
    """CREATE TABLE vectors (
        seq INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
        vector BLOB NOT NULL)""",
    """CREATE TABLE relations (
        source INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
        target INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        weight REAL NOT NULL,
        PRIMARY KEY (source, target, kind)) WITHOUT ROWID""",
    """CREATE INDEX relations_target ON relations (target)""",
    """CREATE TABLE learned (
        seq INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
        cluster TEXT NOT NULL,
        q REAL NOT NULL,
        exposures INTEGER NOT NULL,
        PRIMARY KEY (seq, cluster)) WITHOUT ROWID""",
    """CREATE TABLE history (
        seq INTEGER PRIMARY KEY,
        event TEXT NOT NULL,
        unit_id TEXT NOT NULL,
        time INTEGER NOT NULL,
        content_hash BLOB,
        payload TEXT)""",
    """CREATE INDEX history_unit ON history (unit_id)""",
    f"""CREATE VIEW words_source AS SELECT u.seq AS seq, {_RENDERED} AS content,
        u.summary AS summary, coalesce(u.entities, '') AS entities,
        coalesce(u.topics, '') AS topics,
        {_OWNER} AS owner
        FROM units u CROSS JOIN scopes s ON s.num = u.scope WHERE u.status = 'active'""",
    """CREATE VIRTUAL TABLE words USING fts5 (
        content, summary, entities, topics, owner,
        content = 'words_source', content_rowid = 'seq',
        tokenize = 'porter unicode61 remove_diacritics 2')""",
    # Two line ends after the text let every character start a trigram, so that terms of one or
    # two characters are found as the beginning of a trigram.
    f"""CREATE VIEW grams_source AS SELECT u.seq AS seq, {_RENDERED}
        || char(10) || u.summary || char(10) || coalesce(u.entities, '')
        || char(10) || coalesce(u.topics, '') || char(10, 10) AS content, {_OWNER} AS owner
        FROM units u CROSS JOIN scopes s ON s.num = u.scope
        WHERE u.status = 'active' AND u.unspaced""",
    """CREATE VIRTUAL TABLE grams USING fts5 (
        content, owner, content = 'grams_source', content_rowid = 'seq', tokenize = 'trigram')""",
    """CREATE VIRTUAL TABLE gram_places USING fts5vocab (grams, instance)""",
)

SECOND = (
    # What the bank has learned as a whole, by name.
    """CREATE TABLE state (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID""",
    # A lesson is the history rows first..last; `last` is NULL while it is given, the rows of its
    # undoing are undo_first..undo_last. The embedder's row of `meta` may change with a lesson.
    """CREATE TABLE lessons (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        time INTEGER NOT NULL,
        first INTEGER NOT NULL, last INTEGER,
        undo_first INTEGER, undo_last INTEGER,
        embedder_before TEXT, embedder_after TEXT)""",
    # What stood in the rows a lesson changed, exactly as it was stored; NULL outside of lessons.
    """ALTER TABLE history ADD COLUMN image TEXT""",
)
