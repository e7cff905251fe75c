"""Which configuration and embedder a memory works with, and the file it works on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memgene import Memory, RetrievalConfig
from memgene.api import reembed
from memgene.core import BankError, EmbedderMismatchError, InputError, NotFoundError
from memgene.embed import Embedder
from memgene.genome import GenomeBundle


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    config = RetrievalConfig(context_k=3, fusion="rrf")
    return Path(GenomeBundle(config, "static", "config").save(tmp_path / "best"))


def test_what_was_stored_is_there_after_a_restart(path: Path, static: Embedder) -> None:
    with Memory(path, embedder=static) as memory:
        memory.add("persistent", user_id="ann")
    with Memory(path, embedder=static) as memory:
        assert [hit.text for hit in memory.search("persistent", user_id="ann")] == ["persistent"]


def test_a_closed_memory_says_so(path: Path, static: Embedder) -> None:
    memory = Memory(path, embedder=static)
    memory.close()
    with pytest.raises(BankError):
        memory.get_all()


def test_a_genome_brings_its_configuration(path: Path, bundle: Path) -> None:
    with Memory(path, genome=bundle) as memory:
        assert memory.config == RetrievalConfig(context_k=3, fusion="rrf")
        assert memory.genome is not None
        memory.add([{"content": f"fact {n}"} for n in range(5)])
        assert len(memory.search("fact").context.splitlines()) == 3


def test_a_genome_and_a_configuration_exclude_each_other(path: Path, bundle: Path) -> None:
    with pytest.raises(InputError, match="genome"):
        Memory(path, genome=bundle, config=RetrievalConfig())


def test_an_absent_genome_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        Memory(path, genome=tmp_path / "nowhere")
    assert not path.exists()


def test_a_genomes_embedder_must_be_the_banks(path: Path, bundle: Path) -> None:
    with Memory(path, embedder="hashing") as memory:
        memory.add("hashed")
    with pytest.raises(EmbedderMismatchError, match=r"hashing-64.*wordllama.*reembed"):
        Memory(path, genome=bundle)
    with pytest.raises(EmbedderMismatchError, match=r"evolved with.*hashing"):
        Memory(path, genome=bundle, embedder="hashing")


def test_reembed_replaces_every_vector(path: Path, bundle: Path) -> None:
    with Memory(path, embedder="hashing") as memory:
        (first,) = memory.add("one")
        memory.add("two")
    done = reembed(path, "static")
    assert (done.count, done.dimension) == (2, 256)
    with Memory(path, genome=bundle) as memory:
        assert memory.verify().ok
        assert memory.search("one")[0].id == first.id


def test_settings_choose_the_embedder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memgene.toml").write_text('embedder = "hashing"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with Memory(path) as memory:
        memory.add("x")
        assert memory.stats().embedder == "hashing-64"


def test_looking_at_facts_needs_no_embedder(path: Path, static: Embedder) -> None:
    with Memory(path, embedder=static) as memory:
        (added,) = memory.add("fact")
    with Memory(path) as memory:
        memory._wanted = "no such embedder"  # would fail if it were loaded
        assert memory.get(added.id).text == "fact"
        memory.feedback(added.id, 1.0)
        assert memory.verify().ok
        assert memory.delete(added.id).count == 1


def test_threads_may_share_a_memory(memory: Memory) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for n in range(10):
                memory.add(f"thread {number} fact {n}", user_id=f"u{number}")
                assert memory.search("fact", user_id=f"u{number}")
        except BaseException as failure:  # noqa: BLE001 - handed to the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [memory.stats(user_id=f"u{n}").units for n in range(4)] == [10] * 4
