"""A lineage as a tree is read: each candidate after its parent, with its depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgene.reports.node import Node


def in_tree_order(nodes: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """Depth first, children in the order in which they were made; roots have depth 0.

    Without recursion: a line of improvements may be as long as the run.
    """
    known = {node.id for node in nodes}
    children: dict[str | None, list[Node]] = {}
    for node in nodes:
        parent = node.parent if node.parent in known else None
        children.setdefault(parent, []).append(node)
    waiting = [(node, 0) for node in reversed(children.get(None, []))]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in reversed(children.get(node.id, []))]
