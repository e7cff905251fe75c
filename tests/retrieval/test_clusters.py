"""Kinds of query: grown one by one, fitted at once, and kept as bytes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.core import BankError, InputError
from memgene.embed.hashing import HashingEmbedder
from memgene.embed.static import StaticEmbedder
from memgene.retrieval.clusters import QueryClusters, name_of, query_vector, query_vectors

X, Y, Z = np.eye(3, dtype=np.float32)
NOTHING = np.zeros(3, np.float32)


def grown(*vectors: np.ndarray, least: float = 0.5, most: int = 10) -> QueryClusters:
    clusters = QueryClusters()
    for vector in vectors:
        clusters = clusters.grown(vector, least, most)
    return clusters


class TestAssign:
    def test_the_nearest_centroid_gives_the_name(self) -> None:
        clusters = grown(X, Y)
        assert clusters.assign(np.array([0.2, 0.9, 0.4], np.float32)) == clusters.names[1]

    def test_however_far_it_is(self) -> None:
        clusters = grown(X, Y)
        assert clusters.assign(np.array([0.0, 0.1, 9.0], np.float32)) == clusters.names[1]

    def test_the_older_of_two_that_are_equally_near(self) -> None:
        clusters = grown(X, Y)
        assert clusters.assign(X + Y) == clusters.names[0]

    def test_no_name_without_clusters_or_without_words(self) -> None:
        assert QueryClusters().assign(X) == ""
        assert grown(X).assign(NOTHING) == ""

    def test_a_vector_of_another_space_is_refused(self) -> None:
        with pytest.raises(InputError, match="3 dimensions"):
            grown(X).assign(np.ones(4, np.float32))


class TestGrowing:
    def test_what_is_near_enough_starts_no_cluster(self) -> None:
        near = np.array([0.8, 0.6, 0.0], np.float32)
        assert len(grown(X, near, least=0.75)) == 1
        assert len(grown(X, near, least=0.85)) == 2

    def test_a_cluster_is_named_by_its_centroid(self) -> None:
        clusters = grown(3 * X)
        np.testing.assert_array_equal(clusters.centroids, [X])
        digest = hashlib.sha256(X.astype("<f4").tobytes()).hexdigest()
        assert clusters.names == (digest[:8],)

    def test_no_more_than_the_most(self) -> None:
        clusters = grown(X, Y, Z, most=2)
        assert len(clusters) == 2
        assert clusters.grown(Z, 0.5, 2) is clusters

    def test_nothing_grows_from_a_query_without_words(self) -> None:
        assert len(grown(NOTHING)) == 0

    @given(
        rows=st.lists(st.tuples(*[st.integers(-3, 3)] * 3), max_size=12),
        least=st.sampled_from([-1.0, 0.0, 0.5, 0.9, 1.0]),
        most=st.integers(0, 6),
    )
    def test_clusters_never_move_and_lie_apart(
        self, rows: list[tuple[int, int, int]], least: float, most: int
    ) -> None:
        clusters = QueryClusters(centroids=np.zeros((0, 3), np.float32))
        for row in rows:
            vector = np.asarray(row, np.float32)
            larger = clusters.grown(vector, least, most)
            assert larger.names[: len(clusters)] == clusters.names
            np.testing.assert_array_equal(larger.centroids[: len(clusters)], clusters.centroids)
            assert len(larger) - len(clusters) in (0, 1)
            clusters = larger
            if vector.any() and most:
                unit = vector / np.linalg.norm(vector)
                assert len(clusters) == most or (clusters.centroids @ unit).max() >= least - 1e-6
        assert len(clusters) <= most
        cosines = clusters.centroids @ clusters.centroids.T
        assert (cosines[~np.eye(len(clusters), dtype=bool)] < least + 1e-6).all()


class TestFitting:
    @pytest.fixture
    def bundles(self) -> tuple[np.ndarray, np.ndarray]:
        """30, 20 and 10 vectors around three directions in 8 dimensions."""
        rng = np.random.default_rng(1)
        owner = np.repeat([0, 1, 2], [30, 20, 10])
        rows = np.eye(8)[owner] * 5 + rng.normal(size=(60, 8)) * 0.5
        return rows.astype(np.float32), owner

    @pytest.mark.parametrize("seed", range(5))
    def test_separate_bundles_are_found_largest_first(
        self, bundles: tuple[np.ndarray, np.ndarray], seed: int
    ) -> None:
        rows, owner = bundles
        clusters = QueryClusters.fit(rows, 3, seed, "e")
        assert [clusters.names.index(clusters.assign(row)) for row in rows] == owner.tolist()
        np.testing.assert_allclose(np.linalg.norm(clusters.centroids, axis=1), 1, rtol=1e-6)

    def test_centroids_are_mean_directions_of_their_members(
        self, bundles: tuple[np.ndarray, np.ndarray]
    ) -> None:
        rows, owner = bundles
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        mean = unit[owner == 1].sum(axis=0)
        found = QueryClusters.fit(rows, 3, 0, "e").centroids[1]
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), rtol=1e-5)

    def test_equal_seeds_give_equal_clusters(self, bundles: tuple[np.ndarray, np.ndarray]) -> None:
        rows, _ = bundles
        again = [QueryClusters.fit(rows, 7, 3, "e").to_bytes() for _ in range(2)]
        assert again[0] == again[1]

    def test_no_more_clusters_than_directions(self) -> None:
        rows = np.stack([X, 2 * X, Y, NOTHING, X])
        clusters = QueryClusters.fit(rows, 4, 0, "e")
        assert clusters.names == (name_of(X), name_of(Y))
        assert clusters.embedder == "e"

    def test_nothing_to_fit(self) -> None:
        assert len(QueryClusters.fit(np.zeros((2, 3), np.float32), 2, 0, "e")) == 0
        with pytest.raises(InputError, match="k of 1 or more"):
            QueryClusters.fit(np.eye(3, dtype=np.float32), 0, 0, "e")


class TestKeeping:
    clusters = QueryClusters((name_of(X), name_of(Y)), np.stack([X, Y]), "hashing-3")

    def test_bytes_and_back(self) -> None:
        again = QueryClusters.from_bytes(self.clusters.to_bytes())
        assert (again.names, again.embedder) == (self.clusters.names, "hashing-3")
        np.testing.assert_array_equal(again.centroids, self.clusters.centroids)
        assert again.to_bytes() == self.clusters.to_bytes()

    def test_none_can_be_kept_too(self) -> None:
        empty = QueryClusters.from_bytes(QueryClusters(embedder="hashing-3").to_bytes())
        assert (empty.names, empty.embedder) == ((), "hashing-3")

    def test_other_bytes_are_refused(self) -> None:
        whole = self.clusters.to_bytes()
        for content in (b"", b"nonsense", whole[:100]):
            with pytest.raises(BankError, match="clusters"):
                QueryClusters.from_bytes(content)

    def test_a_newer_format_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patched:
            patched.setattr("memgene.retrieval.clusters.FORMAT", 2)
            newer = self.clusters.to_bytes()
        with pytest.raises(BankError, match="format 2, this memgene reads 1"):
            QueryClusters.from_bytes(newer)

    def test_state_of_another_embedder_does_not_fit(self) -> None:
        state = self.clusters.to_bytes()
        assert QueryClusters.read(state, HashingEmbedder(3)).names == self.clusters.names
        for other in (HashingEmbedder(4), None):
            assert QueryClusters.read(state, other).names == ()
        assert QueryClusters.read(None, HashingEmbedder(3)).embedder == "hashing-3"

    def test_two_sets_are_joined_by_name(self) -> None:
        other = QueryClusters((name_of(Y), name_of(Z)), np.stack([Y, Z]), "hashing-3")
        joined = self.clusters.joined(other)
        assert joined.names == (name_of(X), name_of(Y), name_of(Z))
        np.testing.assert_array_equal(joined.centroids, np.eye(3))
        assert QueryClusters().joined(other) is other
        with pytest.raises(InputError, match="not of one space"):
            self.clusters.joined(QueryClusters((name_of(Z),), Z[None], "hashing-4"))

    def test_every_name_needs_a_centroid(self) -> None:
        with pytest.raises(InputError, match="2 clusters"):
            QueryClusters(("a", "b"), X[None])


class TestQueryVector:
    def test_sentence_encoders_see_the_text_as_it_is(self) -> None:
        embedder = HashingEmbedder(32)
        found = query_vector("where is the lamp?", embedder)
        np.testing.assert_array_equal(found, embedder.embed(["where is the lamp?"])[0])

    def test_static_vectors_are_a_mean_of_centred_content_words(self) -> None:
        static = StaticEmbedder()
        mean = static.words(["clean", "lettuce", "table"]).mean(axis=0)
        found = query_vector("is there a clean lettuce on the table?", static)
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), rtol=1e-5)

    def test_a_text_without_content_words_has_no_direction(self) -> None:
        static = StaticEmbedder()
        assert not query_vector("what is it?", static).any()
        rows = query_vectors(["what is it?", "clean lettuce"], static)
        assert rows.any(axis=1).tolist() == [False, True]
        assert query_vectors([], static).shape == (0, 256)

    def test_goals_with_one_verb_are_nearer_than_goals_with_none_in_common(self) -> None:
        rows = query_vectors(
            ["put a clean cup in the drawer", "clean a fork, put it away", "read under a lamp"],
            StaticEmbedder(),
        )
        cosines = rows @ rows.T
        assert cosines[0, 1] > 0.45 > cosines[0, 2]
