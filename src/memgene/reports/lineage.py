"""Who came from whom in a run, with what score, and why some came to nothing. Reads files only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.evolution.event import Event
from memgene.evolution.events import Finished, Promoted, RoundFinished, RunStarted
from memgene.evolution.programs.events import IterationFinished
from memgene.evolution.rundir import read_run
from memgene.reports.coevolve_nodes import coevolve_nodes
from memgene.reports.config_nodes import config_nodes
from memgene.reports.joint_nodes import inner_nodes, joint_nodes
from memgene.reports.joint_reading import read_joint
from memgene.reports.node import Node, Rejection, Status
from memgene.reports.program_nodes import program_nodes
from memgene.reports.recorded import first, fold_folders, read_events

__all__ = ["LineageView", "Node", "Rejection", "Status", "read_lineage"]


@dataclass(frozen=True, slots=True)
class LineageView:
    """All candidates of a run in the order in which they were made; of a run with folds, one view
    each. `best` is the promoted candidate, or the best so far (None when there is none). Of a joint
    evolution `nodes` are the genomes after each pass, `inner` what the searches inside tried."""

    run: str
    strategy: str
    metric: str
    finished: bool
    nodes: tuple[Node, ...] = ()
    best: str | None = None
    promoted: str | None = None
    folds: tuple[LineageView, ...] = ()
    inner: tuple[Node, ...] = ()

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene lineage --json` prints them."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values

    def line(self, name: str) -> tuple[Node, ...]:
        """The line that leads to a candidate, oldest first, itself last."""
        known = {node.id: node for node in self.nodes}
        found: list[Node] = []
        at: str | None = name
        while at is not None and at in known:
            found.append(known[at])
            at = known[at].parent
        return tuple(reversed(found))

    def find(self, name: str) -> Node:
        """A candidate by its id, by a seed's title, or as `best`.

        Raises InputError when there is none, or when several seeds have the title.
        """
        if name == "best" and self.best is not None:
            name = self.best
        found = [node for node in (*self.nodes, *self.inner) if node.id == name][:1]
        found = found or [n for n in self.nodes if n.parent is None and n.title == name]
        if len(found) > 1:
            ids = ", ".join(node.id for node in found)
            raise InputError(f"several seeds of {self.run} are called {name!r}: {ids}; use an id")
        if not found:
            raise InputError(f"{self.run} has no candidate {name!r}; it has {self._known()}")
        return found[0]

    def _known(self) -> str:
        if self.folds:
            folds = ", ".join(Path(fold.run).name for fold in self.folds)
            return f"folds: name a candidate as FOLD/ID, of {folds}"
        if not self.nodes:
            return "none yet"
        seeds = [node.title for node in self.nodes if node.parent is None]
        best = ["best"] if self.best is not None else []
        ids = [node.id for node in self.nodes]
        shown = ids if len(ids) < 8 else [*ids[:3], "…", ids[-1]]
        return ", ".join([*shown, *best, *seeds])


def read_lineage(folder: Path) -> LineageView:
    """The candidates of a run, of one that is still going on, or of a fold.

    Raises RunError when the folder is no run folder or is damaged.
    """
    read_run(folder)
    return lineage_of(folder, read_events(folder))


def lineage_of(folder: Path, events: Sequence[Event]) -> LineageView:
    """The candidates that the journal of a run folder tells of, and those of its folds."""
    started = first(events, RunStarted)
    promoted = first(events, Promoted)
    joint = read_joint(events)
    if joint is None:
        nodes = (*config_nodes(events), *program_nodes(events), *coevolve_nodes(events))
        best = _best_so_far(events, nodes)
    else:
        nodes, best = joint_nodes(joint), joint.best or None
    return LineageView(
        run=str(folder),
        strategy=started.strategy if started else "",
        metric=started.metric if started else "",
        finished=first(events, Finished) is not None,
        nodes=nodes,
        best=promoted.candidate if promoted else best,
        promoted=promoted.candidate if promoted else None,
        folds=tuple(read_lineage(path) for path in fold_folders(folder)),
        inner=tuple(n for turn in joint.turns for n in inner_nodes(turn)) if joint else (),
    )


def _best_so_far(events: Sequence[Event], nodes: Sequence[Node]) -> str | None:
    """What the last round names, else the best seed."""
    rounds = [e.best for e in events if isinstance(e, RoundFinished | IterationFinished)]
    if rounds:
        return rounds[-1]
    seeds = [n for n in nodes if n.status is Status.SEED and n.score is not None]
    return max(seeds, key=lambda node: node.score or 0.0).id if seeds else None
