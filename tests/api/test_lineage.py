"""`lineage` and `diff` of a run that an evolution wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgene.api.evolving import evolve
from memgene.api.lineages import diff, lineage
from memgene.core import Budget, InputError
from memgene.evolution.rundir import RunFolder
from memgene.tasks.demo import demo_task
from memgene.tasks.part import subset
