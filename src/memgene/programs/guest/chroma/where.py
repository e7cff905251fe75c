"""`where` and `where_document`: filters in chromadb's language, checked and made into functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from memgene.programs.guest.chroma.errors import InvalidArgumentError

Metadata = Mapping[str, Any]
MetadataTest = Callable[[Metadata], bool]
TextTest = Callable[[str | None], bool]

_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, operand: bool(value > operand),
    "$gte": lambda value, operand: bool(value >= operand),
    "$lt": lambda value, operand: bool(value < operand),
    "$lte": lambda value, operand: bool(value <= operand),
}
_OPERATORS = (*_ORDERED, "$ne", "$eq", "$in", "$nin", "$contains", "$not_contains")
_TEXT_OPERATORS = ("$contains", "$not_contains", "$regex", "$not_regex", "$and", "$or")


def metadata_test(where: Any) -> MetadataTest:
    """What tells whether a record's metadata pass a `where` filter.

    A filter has one key: a field (`{"year": 2024}`, `{"year": {"$gt": 2020}}`), `$and` or `$or`.
    Numbers compare with numbers, texts with texts, truth values with truth values. A record
    without the field passes `$ne`, `$nin` and `$not_contains` and none of the others. A field that
    holds a list is seen by `$contains` and `$not_contains` alone, which tell 1 from 1.0.

    Raises ValueError for what is no filter, with the form it should have.
    """
    if not isinstance(where, dict):
        raise InvalidArgumentError(
            f"where must be a dict such as {{'field': 'value'}}, got {where!r}"
        )
    if len(where) != 1:
        raise InvalidArgumentError(
            f"where must have exactly one key; join several by {{'$and': [{{…}}, {{…}}]}}, or "
            f"leave where out; got {where!r}"
        )
    ((key, value),) = where.items()
    if not isinstance(key, str):
        raise InvalidArgumentError(f"a where key must be the name of a field, got {key!r}")
    if key in ("$and", "$or"):
        tests = [metadata_test(part) for part in _parts(key, value, "where")]
        if key == "$and":
            return lambda metadata: all(test(metadata) for test in tests)
        return lambda metadata: any(test(metadata) for test in tests)
    if key in ("$contains", "$not_contains"):
        raise InvalidArgumentError(
            f"{key} belongs to a field, {{'field': {{'{key}': …}}}}; got {where!r}"
        )
    if key.startswith("$"):
        raise InvalidArgumentError(
            f"{key!r} is neither a field nor $and or $or; an operator stands inside of a field: "
            f"{{'field': {{'{key}': …}}}}"
        )
    if isinstance(value, dict):
        return _field_test(key, value)
    if not isinstance(value, str | int | float):
        raise InvalidArgumentError(
            f"the value of where field {key!r} must be a str, int, float, bool or an operator "
            f"such as {{'$in': […]}}, got {value!r}"
        )
    return _equal(key, value)


def document_test(where: Any) -> TextTest:
    """What tells whether a record's document passes a `where_document` filter.

    `$contains` and `$regex` (a search anywhere) see letters as they are written; a record without
    a document passes `$not_contains` and `$not_regex` alone.

    Raises ValueError for what is no filter, with the form it should have.
    """
    if not isinstance(where, dict):
        raise InvalidArgumentError(
            f"where_document must be a dict such as {{'$contains': 'word'}}, got {where!r}"
        )
    if len(where) != 1:
        raise InvalidArgumentError(
            "where_document must have exactly one operator; join several by "
            f"{{'$and': [{{…}}, {{…}}]}}, or leave it out; got {where!r}"
        )
    ((key, value),) = where.items()
    if key not in _TEXT_OPERATORS:
        raise InvalidArgumentError(
            f"a where_document operator is one of {', '.join(_TEXT_OPERATORS)}, got {key!r}"
        )
    if key in ("$and", "$or"):
        tests = [document_test(part) for part in _parts(key, value, "where_document")]
        if key == "$and":
            return lambda text: all(test(text) for test in tests)
        return lambda text: any(test(text) for test in tests)
    if not isinstance(value, str) or not value:
        raise InvalidArgumentError(
            f"where_document {key} needs a str that is not empty, got {value!r}"
        )
    found = _finder(key, value)
    if "not" in key:
        return lambda text: text is None or not found(text)
    return lambda text: text is not None and found(text)


def _finder(operator: str, value: str) -> Callable[[str], bool]:
    if operator.endswith("contains"):
        return lambda text: value in text
    try:
        pattern = re.compile(value)
    except re.error as error:
        raise InvalidArgumentError(
            f"where_document {operator} {value!r} is no regular expression: {error}"
        ) from None
    return lambda text: pattern.search(text) is not None


def _parts(key: str, value: Any, argument: str) -> list[Any]:
    if not isinstance(value, list) or len(value) < 2:
        raise InvalidArgumentError(
            f"{argument} {key} needs a list of at least two filters, got {value!r}"
        )
    return value


def _field_test(field: str, expression: Mapping[Any, Any]) -> MetadataTest:
    """The test of `{field: {operator: operand}}`."""
    if len(expression) != 1:
        raise InvalidArgumentError(
            f"where field {field!r} must have exactly one operator; write a range as {{'$and': "
            f"[{{'{field}': {{'$gte': …}}}}, {{'{field}': {{'$lte': …}}}}]}}; got {expression!r}"
        )
    ((operator, operand),) = expression.items()
    if operator not in _OPERATORS:
        raise InvalidArgumentError(
            f"a where operator is one of {', '.join(_OPERATORS)}, got {operator!r}"
        )
    _check_operand(operator, operand)
    if operator in _ORDERED:
        return _ordered(field, operator, operand)
    if operator == "$eq":
        return _equal(field, operand)
    if operator == "$ne":
        return _negated(_equal(field, operand))
    if operator == "$in":
        return _among(field, operand)
    if operator == "$nin":
        return _negated(_among(field, operand))
    if operator == "$contains":
        return _holding(field, operand)
    return _negated(_holding(field, operand))


def _check_operand(operator: str, operand: Any) -> None:
    if operator in _ORDERED and not isinstance(operand, int | float):
        raise InvalidArgumentError(
            f"{operator} compares numbers, got {operand!r}; store what is to be ordered (a date, "
            "say) as a number"
        )
    if operator in ("$in", "$nin"):
        if not isinstance(operand, list) or not operand:
            raise InvalidArgumentError(
                f"{operator} needs a list that is not empty, got {operand!r}"
            )
        if any(not isinstance(value, type(operand[0])) for value in operand):
            raise InvalidArgumentError(
                f"the values of {operator} must be of one type, got {operand!r}"
            )
        wrong = not isinstance(operand[0], str | int | float)
    else:
        wrong = not isinstance(operand, str | int | float)
    if wrong:
        raise InvalidArgumentError(f"{operator} takes str, int, float or bool, got {operand!r}")


def _kind(value: Any) -> str:
    """What a value can be equal to: numbers to numbers, and so on."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "str" if isinstance(value, str) else "list"


def _equal(field: str, operand: Any) -> MetadataTest:
    kind = _kind(operand)

    def test(metadata: Metadata) -> bool:
        value = metadata.get(field)
        return value is not None and value == operand and _kind(value) == kind

    return test


def _among(field: str, operands: list[Any]) -> MetadataTest:
    wanted = {(_kind(operand), operand) for operand in operands}

    def test(metadata: Metadata) -> bool:
        value = metadata.get(field)
        if value is None or isinstance(value, list):
            return False
        return (_kind(value), value) in wanted

    return test


def _ordered(field: str, operator: str, operand: float) -> MetadataTest:
    compare = _ORDERED[operator]

    def test(metadata: Metadata) -> bool:
        value = metadata.get(field)
        return value is not None and _kind(value) == "number" and compare(value, operand)

    return test


def _holding(field: str, operand: Any) -> MetadataTest:
    def test(metadata: Metadata) -> bool:
        value = metadata.get(field)
        if not isinstance(value, list):
            return False
        return any(one == operand and type(one) is type(operand) for one in value)

    return test


def _negated(test: MetadataTest) -> MetadataTest:
    return lambda metadata: not test(metadata)
