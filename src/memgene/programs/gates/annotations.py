"""Static gate: the types of fields, in every spelling (M* §2)."""

from __future__ import annotations

import ast

ALLOWED_TYPES = "str, int, float, bool, list[str], or Optional of one of them"

_SCALARS = frozenset({"str", "int", "float", "bool"})
_LISTS = frozenset({"list", "List"})


def is_field_type(annotation: ast.expr) -> bool:
    """Whether a field may have this type: `str`, `int`, `float`, `bool`, `list[str]`, or one of
    them or None, as `Optional[…]`, `Union[…, None]` or `… | None`, quoted or not.

    `list` without its elements is a list of strings.
    """
    node = _plain(annotation)
    return node is not None and _may_be(node)


def is_class_variable(annotation: ast.expr) -> bool:
    """Whether a dataclass makes no field of it."""
    node = _plain(annotation)
    return node is not None and _outer(node) == "ClassVar"


def _plain(node: ast.expr) -> ast.expr | None:
    """The expression of an annotation, out of its quotes; None for quotes around no type."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return None
    return node


def _may_be(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _one_or_none([node.left, node.right])
    if isinstance(node, ast.Subscript):
        outer = _outer(node)
        if outer == "Optional":
            return _is_value(node.slice)
        if outer == "Union" and isinstance(node.slice, ast.Tuple):
            return _one_or_none(node.slice.elts)
    return _is_value(node)


def _one_or_none(parts: list[ast.expr]) -> bool:
    """A single type beside None."""
    plain = [_plain(part) for part in parts]
    rest = [p for p in plain if p is None or not (isinstance(p, ast.Constant) and p.value is None)]
    return len(rest) == 1 and len(rest) < len(parts) and rest[0] is not None and _is_value(rest[0])


def _is_value(annotation: ast.expr) -> bool:
    """A scalar, or a list of strings."""
    node = _plain(annotation)
    if node is None:
        return False
    if isinstance(node, ast.Subscript):
        inner = _plain(node.slice)
        return _outer(node) in _LISTS and isinstance(inner, ast.Name) and inner.id == "str"
    return _name(node) in _SCALARS | _LISTS


def _outer(node: ast.expr) -> str | None:
    """`Optional` of `Optional[str]`, `typing.Optional[str]` and `Optional`."""
    return _name(node.value) if isinstance(node, ast.Subscript) else _name(node)


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
