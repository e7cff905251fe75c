"""After a deletion the file holds no trace of the text: not in tables, indices, free pages, log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memgene.bank import MemoryUnit, SqliteBank, UnitStatus
from memgene.bank.sqlite import erasing
from memgene.core import Scope


def secret_unit(number: int, filler: list[str]) -> tuple[MemoryUnit, list[str]]:
    """A unit with secrets in every field, and the words that must vanish with it."""
    words = [f"{kind}{number:04}qx" for kind in ("wozu", "dorf", "karsk", "mund", "lumo", "pfad")]
    cjk = f"秘密{chr(0x4E00 + 50 * number)}東京"
    unit = MemoryUnit(
        " ".join([*filler, words[0], cjk]),
        scope=Scope(words[1]),
        summary=words[2],
        entities=(words[3],),
        metadata={"note": words[4]},
        speaker=words[5],
    )
    return unit, [*words, cjk]


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(path.parent.glob(f"{path.name}*")))


@pytest.mark.parametrize(("units", "batch"), [(1, 1), (40, 40), (120, 7)])
def test_deleted_text_is_not_left_in_the_file(tmp_path: Path, units: int, batch: int) -> None:
    random, path = Random(units), tmp_path / "a.db"
    common = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    made = [secret_unit(n, random.choices(common, k=random.randint(0, 80))) for n in range(units)]
    with SqliteBank(path) as bank:
        ids: list[str] = []
        for start in range(0, units, batch):
            ids += [r.id for r in bank.add([u for u, _ in made[start : start + batch]])]
        for unit_id in ids[: units // 4 + 1]:
            unit = bank.get([unit_id])[0]
            bank.update(replace(unit, content=f"{unit.content} again"))
            bank.touch([unit_id], 1.0, f"ask {unit.content}")
            bank.set_status([unit_id], UnitStatus.ARCHIVED)
        gone = set(random.sample(range(units), units // 2 + 1)) | {0}
        held = bytes_on_disk(path)
        assert all(word.encode() in held for n in gone for word in made[n][1])
        bank.delete([ids[n] for n in gone])
        left = bytes_on_disk(path)
        traces = [w for n in gone for w in made[n][1] if w.encode() in left]
        assert traces == []
        assert bank.verify() == []


def test_a_lesson_keeps_no_copy_of_what_was_deleted_since(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        a, b = (r.id for r in bank.add([MemoryUnit("vanishing1 is"), MemoryUnit("kept")]))
        with bank.lesson("learn"):
            for unit, text in zip(bank.get([a, b]), ("vanishing2", "changed"), strict=True):
                bank.update(replace(unit, content=text))
        assert b"vanishing1" in bytes_on_disk(path)
        bank.delete([a])
        assert b"vanishing" not in bytes_on_disk(path)
        assert bank.undo(bank.lessons()[0]) == 1
        assert [unit.content for unit in bank.scan()] == ["kept"]


def test_what_an_undo_erases_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        bank.add([MemoryUnit("kept")])
        with bank.lesson("learn"):
            (receipt,) = bank.add([MemoryUnit("vanishing", scope=Scope("vanishing"))])
            bank.update(replace(bank.get([receipt.id])[0], summary="vanishing too"))
        assert b"vanishing" in bytes_on_disk(path)
        bank.undo(bank.lessons()[0])
        assert b"vanishing" not in bytes_on_disk(path)
        assert bank.verify() == []


def test_a_large_file_is_rewritten_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "AT_ONCE", 0)
    path, random = tmp_path / "a.db", Random(5)
    made = [secret_unit(n, random.choices(["alpha", "beta"], k=30)) for n in range(60)]
    bank = SqliteBank(path)
    ids = [bank.add([unit])[0].id for unit, _ in made]
    for unit in bank.get(ids[::3]):
        bank.update(replace(unit, content=f"{unit.content} {'longer ' * 50}"))
    for unit_id in ids:
        bank.delete([unit_id])
    with bank._connections.reading() as connection:
        assert erasing.is_due(connection)
    bank.close()
    left = bytes_on_disk(path)
    assert [w for _, words in made for w in words if w.encode() in left] == []
    with SqliteBank(path) as again, again._connections.reading() as connection:
        assert not erasing.is_due(connection)


def test_many_deletions_in_one_block(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank:
        kept = bank.add([MemoryUnit("kept forever")])[0].id
        with bank.atomic():
            for number in range(5):
                (receipt,) = bank.add([MemoryUnit(f"vanishing{number}")])
                bank.delete([receipt.id])
        assert b"vanishing" not in bytes_on_disk(path)
        assert [u.id for u in bank.scan()] == [kept]
        assert [m.id for m in bank.search_text(["kept"], None, 5)] == [kept]


def test_the_log_is_emptied_once_the_last_reader_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with SqliteBank(path) as bank, SqliteBank(path) as other:
        (receipt,) = bank.add([MemoryUnit("vanishing")])
        with other._connections.reading() as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM units").fetchone()
            bank.delete([receipt.id])
            connection.execute("COMMIT")
        bank.add([MemoryUnit("next change")])
        assert b"vanishing" not in bytes_on_disk(path)
