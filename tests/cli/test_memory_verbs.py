"""The verbs on one memory: what they print, and their exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from memgene.bank import open_bank
from memgene.genome import GenomeBundle
from memgene.retrieval.config import RetrievalConfig
from memgene.testing.programs import program_text

Run = Callable[..., Result]
Ask = Callable[..., Any]


@pytest.fixture
def db(ask: Ask) -> str:
    for user, text in (("ann", "Ann likes pears."), ("ann", "Ann owns a boat."), ("bob", "Bob.")):
        ask("add", text, "--db", "m.db", "--user-id", user)
    return "m.db"


@pytest.fixture
def empty() -> str:
    open_bank("m.db").close()
    return "m.db"


def test_add_prints_the_receipt(ask: Ask, run: Run) -> None:
    added = ask("add", "Ann likes pears.", "--db", "m.db", "--user-id", "ann")
    (one,) = added["results"]
    assert list(one) == ["id", "event", "text", "reason"]
    assert one["event"] == "added"
    again = run("add", "Ann likes pears.", "--db", "m.db", "--user-id", "ann")
    assert again.exit_code == 0
    assert again.stdout.startswith(f"merged     {one['id']}")


def test_add_reads_text_or_messages_from_stdin(ask: Ask) -> None:
    text = ask("add", "-", "--db", "m.db", stdin="from a pipe\n")
    assert text["results"][0]["text"] == "from a pipe"
    chat = [{"role": "user", "content": "one"}, {"role": "bot", "content": "two"}]
    as_list = ask("add", "-", "--messages", "--db", "m.db", stdin=json.dumps(chat))
    assert [r["event"] for r in as_list["results"]] == ["added", "added"]
    lines = "\n".join(map(json.dumps, chat))
    as_lines = ask("add", "-", "--messages", "--db", "m.db", stdin=lines)
    assert [r["event"] for r in as_lines["results"]] == ["merged", "merged"]


def test_search_prints_hits_with_reasons(ask: Ask, run: Run, db: str) -> None:
    found = ask("search", "pears", "--db", db, "--user-id", "ann", "--limit", "1")
    (hit,) = found["results"]
    assert list(hit) == ["id", "text", "score", "why", "source", "metadata"]
    assert hit["text"] == "Ann likes pears."
    shown = run("search", "pears", "--db", db, "--user-id", "ann", "--why")
    assert "lexical #1" in shown.stdout
    assert "Bob" not in shown.stdout


def test_search_takes_filters_and_a_genome(ask: Ask, db: str, here: Path) -> None:
    ask("add", "Pears in June.", "--db", db, "--time", "2024-06-01", "--metadata", '{"k": 1}')
    for restriction in ({"metadata": {"k": 1}}, {"since": "2024-05-01"}):
        found = ask("search", "pears", "--db", db, "--filter", json.dumps(restriction))
        assert [hit["text"] for hit in found["results"]] == ["Pears in June."]
    GenomeBundle(RetrievalConfig(fusion="rrf"), "static", "config").save(here / "best")
    found = ask("search", "pears", "--db", db, "--user-id", "ann", "--genome", "best")
    assert found["results"][0]["text"] == "Ann likes pears."


def test_a_memory_can_be_seen_changed_and_erased(ask: Ask, run: Run, db: str) -> None:
    id = ask("search", "pears", "--db", db, "--user-id", "ann")["results"][0]["id"]
    assert ask("get", id, "--db", db)["user_id"] == "ann"
    assert ask("update", id, "Ann likes plums.", "--db", db)["text"] == "Ann likes plums."
    assert ask("update", id, "--metadata", '{"a": 1}', "--db", db)["metadata"] == {"a": 1}
    learned = ask("feedback", id, "--reward", "1", "--query", "fruit", "--db", db)
    (moved,) = learned["results"]
    assert (moved["id"], moved["before"], moved["utility"]) == (id, 0.5, 0.65)
    assert learned["kind"]
    events = [e["event"] for e in ask("history", id, "--db", db)["results"]]
    assert events[0] == "add"
    assert "feedback" in events
    assert ask("delete", id, "--db", db) == {"count": 1}
    assert run("get", id, "--db", db).exit_code == 1
    assert run("history", id, "--db", db).exit_code == 0


def test_list_pages_and_respects_the_owner(ask: Ask, run: Run, db: str) -> None:
    first = ask("list", "--db", db, "--user-id", "ann", "--limit", "1")
    assert [r["text"] for r in first["results"]] == ["Ann likes pears."]
    second = ask("list", "--db", db, "--user-id", "ann", "--after", str(first["next"]))
    assert [r["text"] for r in second["results"]] == ["Ann owns a boat."]
    assert second["next"] is None
    assert len(ask("list", "--db", db, "--all")["results"]) == 3
    assert ask("list", "--db", db)["results"] == []
    assert "more: --after" in run("list", "--db", db, "--all", "--limit", "2").stdout


def test_delete_needs_ids_or_all(ask: Ask, run: Run, db: str) -> None:
    assert run("delete", "--db", db).exit_code == 2
    assert run("delete", "some", "--all", "--db", db).exit_code == 2
    assert ask("delete", "--all", "--user-id", "ann", "--db", db) == {"count": 2}
    for more in ([], ["--json"]):
        refused = run("delete", "--all", "--db", db, *more)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "--yes" in refused.stderr
    assert ask("stats", "--db", db)["units"] == 1
    assert ask("delete", "--all", "--yes", "--db", db) == {"count": 1}


def test_delete_erases_all_ids_or_none(ask: Ask, run: Run, db: str) -> None:
    ids = [r["id"] for r in ask("list", "--db", db, "--all")["results"]]
    refused = run("delete", ids[0], "unknown", ids[1], "--db", db)
    assert refused.exit_code == 1
    assert "'unknown'" in refused.stderr
    assert ask("stats", "--db", db)["units"] == 3
    assert ask("delete", *ids[:2], "--db", db) == {"count": 2}


def test_history_and_feedback_take_an_owner(ask: Ask, run: Run, db: str) -> None:
    (one,) = ask("list", "--db", db, "--user-id", "bob")["results"]
    for verb, *more in (["history"], ["feedback", "--reward", "1"]):
        foreign = run(verb, one["id"], *more, "--db", db, "--user-id", "ann")
        assert foreign.exit_code == 1
        assert ask(verb, one["id"], *more, "--db", db, "--user-id", "bob")["results"]
    assert ask("get", one["id"], "--db", db)["utility"] == 0.65


def test_adding_nothing_is_a_failure_that_shows_why(ask: Ask, run: Run) -> None:
    refused = run("add", "", "--db", "m.db")
    assert refused.exit_code == 1
    assert "it has no words" in refused.stdout
    chat = [{"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}]
    told = ask("add", "-", "--messages", "--db", "m.db", stdin=json.dumps(chat), code=1)
    assert [r["event"] for r in told["results"]] == ["refused"]
    chat.append({"role": "assistant", "content": "It rains."})
    kept = ask("add", "-", "--messages", "--db", "m.db", stdin=json.dumps(chat))
    assert [r["event"] for r in kept["results"]] == ["refused", "added"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "absent.jsonl"],
        ["import", "bad.jsonl"],
        ["import", "bad.jsonl", "--embedder", "telepathy"],
        ["import", "-"],
        ["add", "x", "--time", "soon"],
        ["add", "x", "--metadata", "{"],
        ["add", "x", "--embedder", "telepathy"],
        ["add", "{", "--messages"],
    ],
)
def test_what_cannot_be_read_makes_no_memory(run: Run, here: Path, arguments: list[str]) -> None:
    head = '{"memgene_bank": 1, "embedder": null}'
    bad = f'{head}\n{{"unit": {{"content": "good"}}}}\noops\n'
    (here / "bad.jsonl").write_text(bad, encoding="utf-8")
    result = run(*arguments, "--db", "new.db", stdin=bad)
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert [path.name for path in here.iterdir()] == ["bad.jsonl"]


def test_verify_and_check_are_one(ask: Ask, run: Run, db: str) -> None:
    assert ask("verify", "--db", db) == ask("check", "--db", db) == {"ok": True, "results": []}
    assert run("verify", "--db", db).stdout == "everything agrees\n"


def test_export_and_import_make_a_round_trip(ask: Ask, run: Run, db: str) -> None:
    assert ask("export", "out.jsonl", "--db", db) == {"count": 3}
    taken = {"count": 3, "set_aside": 0, "made_by": None}
    assert ask("import", "out.jsonl", "--db", "n.db") == {**taken, "events": {"added": 3}}
    piped = run("export", "-", "--db", db).stdout
    assert ask("import", "-", "--db", "n.db", stdin=piped) == {**taken, "events": {"merged": 3}}


def test_an_import_says_whose_vectors_it_set_aside(ask: Ask, run: Run, db: str) -> None:
    made_by = ask("stats", "--db", db)["embedder"]
    run("export", "out.jsonl", "--db", db)
    told = run("import", "out.jsonl", "--db", "h.db", "--embedder", "hashing").stdout
    assert "3 added" in told
    assert f"3 vectors by {made_by} were set aside" in told
    assert ask("import", "out.jsonl", "--db", "h2.db", "--embedder", "hashing") == {
        "count": 3,
        "events": {"added": 3},
        "set_aside": 3,
        "made_by": made_by,
    }


def test_reembed_swaps_the_vectors(ask: Ask, run: Run, db: str) -> None:
    assert ask("reembed", "--db", db, "--embedder", "hashing") == {
        "count": 3,
        "embedder": "hashing-64",
        "dimension": 64,
    }
    refused = run("search", "pears", "--db", db)
    assert refused.exit_code == 1
    assert "memgene reembed" in refused.stderr
    assert ask("stats", "--db", db)["embedder"] == "hashing-64"


def test_the_bank_may_come_from_the_settings(
    ask: Ask, here: Path, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGENE_DB", db)
    assert ask("stats")["units"] == 3
    monkeypatch.delenv("MEMGENE_DB")
    (here / "memgene.toml").write_text('db = "m.db"\n', encoding="utf-8")
    assert ask("stats")["units"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["get", "x"], 2, "--db"),
        (["get", "x", "--db", "absent.db"], 1, "memgene: there is no memory at absent.db"),
        (["search", "x", "--db", "m.db", "--filter", "{"], 2, "not JSON"),
        (["search", "x", "--db", "m.db", "--filter", "[]"], 2, "JSON object"),
        (["search", "x", "--db", "m.db", "--filter", '{"colour": 1}'], 2, "colour"),
        (["search", " ", "--db", "m.db"], 2, "query is blank"),
        (["search", "x", "--db", "m.db", "--embedder", "telepathy"], 2, "telepathy"),
        (["search", "x", "--db", "m.db", "--genome", "absent"], 1, "absent"),
        (["search", "x", "--db", "m.db", "--genome", "damaged"], 1, "damaged"),
        (["list", "--db", "m.db", "--after", "-1"], 2, "--after"),
        (["add", "x", "--db", "m.db", "--time", "soon"], 2, "--time is not ISO 8601"),
        (["demo", "--dir", "m.db/x"], 2, "dir m.db/x cannot be made"),
        (["demo", "--dir", "m.db"], 2, "dir m.db cannot be made"),
        (["feedback", "x", "--reward", "2", "--db", "m.db"], 2, "--reward"),
        (["feedback", "x", "--reward", "1", "--db", "m.db"], 1, "no memory 'x'"),
        (["import", "absent.jsonl", "--db", "m.db"], 1, "absent.jsonl"),
        (["nonsense"], 2, "nonsense"),
        (["search", "--db", "m.db"], 2, "QUERY"),
    ],
)
def test_failures_are_one_clear_line_and_a_code(
    run: Run, here: Path, empty: str, arguments: list[str], code: int, words: str
) -> None:
    damaged = here / "damaged"
    damaged.mkdir()
    (damaged / "genome.toml").write_text("id = ", encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == code
    assert words.lower() in result.stderr.lower()
    assert "Traceback" not in result.output
    if code == 1:
        assert result.stderr.startswith("memgene: ")
        assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_wrong_setting_is_named(run: Run, here: Path) -> None:
    (here / "memgene.toml").write_text('embeder = "static"\n', encoding="utf-8")
    result = run("stats", "--db", "m.db")
    assert result.exit_code == 1
    assert "memgene.toml" in result.stderr
    assert "embeder" in result.stderr


# -- learning from use
def test_feedback_can_be_logged_learned_from_and_taken_back(ask: Ask, run: Run, db: str) -> None:
    id = ask("search", "pears", "--db", db, "--user-id", "ann")["results"][0]["id"]
    logged = ask("feedback", id, "--reward", "1", "--query", "fruit", "--log-only", "--db", db)
    assert (logged["applied"], logged["results"][0]["utility"]) == (False, 0.5)
    learned = ask("learn", "--db", db)
    assert [step["name"] for step in learned["results"]] == [
        "feedback",
        "router",
        "growth",
        "links",
    ]
    assert learned["results"][0]["changed"] == 1
    assert ask("get", id, "--db", db)["utility"] == 0.65
    kinds = [one["kind"] for one in ask("history", "--db", db)["results"]]
    assert kinds == ["learn", "log"]
    assert run("feedback", "--undo", "--db", db).exit_code == 2  # the newest is no feedback
    (undone,) = ask("learn", "--undo", "--db", db)["results"]
    assert (undone["kind"], undone["undone"]) == ("learn", True)
    assert ask("get", id, "--db", db)["utility"] == 0.5
    assert ask("feedback", "--undo", "--db", db)["results"][0]["kind"] == "log"
    assert run("feedback", "--undo", "--db", db).exit_code == 1  # nothing is left
    assert "taken back" in run("history", "--db", db).stdout


def test_all_lessons_are_taken_back_at_once(ask: Ask, run: Run, db: str) -> None:
    (first, *_) = ask("list", "--db", db, "--user-id", "ann")["results"]
    for reward in ("1", "0", "0.5"):
        told = run("feedback", first["id"], "--reward", reward, "--query", "fruit", "--db", db)
        assert "utility" in told.stdout
        assert "for this kind" in told.stdout
    assert len(ask("learn", "--undo", "--all", "--db", db)["results"]) == 3
    assert ask("get", first["id"], "--db", db)["utility"] == first["utility"]


def test_learn_tells_what_it_did_and_how_to_take_it_back(run: Run, ask: Ask, db: str) -> None:
    (first, *_) = ask("list", "--db", db, "--user-id", "ann")["results"]
    ask("feedback", first["id"], "--reward", "1", "--log-only", "--db", db)
    told = run("learn", "--db", db, "--most", "2")
    assert told.exit_code == 0
    assert "1 logged reward credited" in told.stdout
    assert "1 archived" in told.stdout
    assert "take it back with --undo" in told.stdout
    assert "nothing changed" in run("learn", "--db", db, "--most", "2").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["feedback"],
        ["feedback", "x"],
        ["feedback", "--reward", "1"],
        ["feedback", "x", "--undo"],
        ["feedback", "--reward", "0", "--undo"],
        ["feedback", "--undo", "--user-id", "ann"],
        ["feedback", "--undo", "--query", "pears"],
        ["learn", "--all"],
        ["learn", "--most", "0"],
        ["learn", "--undo", "--most", "5"],
        ["learn", "--undo", "--user-id", "ann"],
        ["history", "--user-id", "ann"],
    ],
)
def test_what_contradicts_itself_is_wrong_usage(run: Run, db: str, arguments: list[str]) -> None:
    assert run(*arguments, "--db", db).exit_code == 2


def test_verbs_that_write_take_a_genome_with_a_program(
    ask: Ask, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGENE_SANDBOX_LEVEL", "rlimits")
    source = program_text(read='return " | ".join(self.texts)')
    bundle = GenomeBundle(RetrievalConfig(), "hashing", "program", program=source)
    genome = str(bundle.save(tmp_path / "best.memgene"))
    where = ("--db", "p.db", "--genome", genome)
    (added,) = ask("add", "Ann likes pears.", *where)["results"]
    ask("export", "all.jsonl", "--db", "p.db")
    ask("update", added["id"], "Ann likes plums.", *where)
    (hit,) = ask("search", "fruit", *where)["results"]
    assert (hit["text"], list(hit["why"]["views"])) == ("Ann likes plums.", ["program"])
    again = ("--db", "q.db", "--genome", genome)
    assert ask("import", "all.jsonl", *again)["count"] == 1
    assert ask("search", "fruit", *again)["results"][0]["text"] == "Ann likes pears."
    assert ask("stats", "--db", "q.db")["embedder"] == "hashing-64"
    refused = run("feedback", added["id"], "--reward", "1", *where)
    assert refused.exit_code == 2
    assert "knows no values of memories" in refused.stderr
