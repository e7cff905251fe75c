"""Counts of the official files. Skipped unless MEMGENE_DATA says where they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from memgene.tasks.folder import load_folder, write_folder
from memgene.tasks.registry import benchmarks, load_task
from memgene.tasks.summary import summarise


@pytest.fixture
def official(real_data):
    def load(name, **options):
        info = next(info for info in benchmarks() if info.name == name)
        if not info.available(real_data):
            pytest.skip(f"MEMGENE_DATA has no {info.filename}")
        return load_task(name, real_data, **options)

    return load


def test_locomo_counts(official):
    summary = summarise(official("locomo"))
    assert (summary.groups, summary.episodes, summary.messages) == (10, 272, 5882)
    assert (summary.questions, summary.counted, summary.usable) == (1986, 1540, 1536)
    assert summary.categories == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }
    assert len(summary.unusable) == 4
    assert len(summary.partly) == 3


def test_locomo_captions_are_text(official):
    captions = [
        m.caption for e in official("locomo").episodes for m in e.messages if m.caption is not None
    ]
    assert len(captions) == 1226
    assert all(isinstance(caption, str) for caption in captions)


def test_locomo_audit_corrects_or_excludes_all_156(official):
    task = official("locomo", audit=True)
    kept = Counter(q.gold.metadata["audit"] for q in task.questions if "audit" in q.gold.metadata)
    gone = Counter(x.reason for x in task.exclusions)
    assert kept == {
        "WRONG_CITATION": 57,
        "HALLUCINATION": 19,
        "TEMPORAL_ERROR": 17,
        "INCOMPLETE": 3,
    }
    assert gone == {
        "audit: ATTRIBUTION_ERROR": 24,
        "audit: HALLUCINATION": 14,
        "audit: AMBIGUOUS": 13,
        "audit: TEMPORAL_ERROR": 9,
        "no evidence is given": 4,
    }
    assert len(task.questions) == 1986 - 60


def test_bfcl_counts_and_every_quote_is_located(official):
    task = official("bfcl-memory")
    summary = summarise(task)
    assert (summary.groups, summary.episodes, summary.questions) == (5, 37, 155)
    assert (summary.usable, summary.unusable) == (155, {})


@pytest.mark.parametrize("name", ["locomo", "bfcl-memory"])
def test_benchmarks_survive_the_folder_format(official, name, tmp_path):
    task = official(name)
    write_folder(task, tmp_path / "out")
    assert replace(load_folder(tmp_path / "out"), fingerprint="") == replace(task, fingerprint="")
