# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Conversion of Python values to the text of options."""

from __future__ import annotations

import json
import numbers
import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from splice._internal.registry import takes_json_array, takes_milliseconds
from splice.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Names: TypeAlias = Union[str, "Iterable[str]"]
"""A name, or several names."""

TimeArgument: TypeAlias = datetime | str | int
"""A datetime or ISO 8601 text with a time zone, or milliseconds since 1970-01-01 UTC."""

OptionValue: TypeAlias = Union[
    str, bool, int, float, timedelta, datetime, "os.PathLike[str]", "StructType", "Iterable[str]"
]
"""Value of an option. Scalars of numpy and pandas have the type of their Python values."""

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"([Zz]|[+-]\d\d:?\d\d)?)?"
)
_PATHS = "strings or objects of pathlib that are not empty"
_WITH_COMMAS = "strings that are not empty and contain no comma"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
_UNITS = (
    ("h", timedelta(hours=1)),
    ("m", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
    ("ms", _MILLISECOND),
)


def plain(value: object) -> Any:
    """Return the Python value of a scalar, or the text of a path or of a member of an enumeration.

    Integers and booleans of numpy are not instances of the types of Python.
    """
    if isinstance(value, str):
        # An enumeration converts a member to its name.
        return str.__str__(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (bool, int, float)) or not hasattr(value, "item"):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    item = value.item()
    return item if isinstance(item, bool) else value


def option_text(name: str, value: OptionValue) -> str:
    """Convert a value to the text of an option, as Spark's readers do for simple values.

    Raises:
        OptionError: if no option has values of this type.
    """
    value = plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, timedelta):
        text = duration_text(name, value)
        return str(-(-value // _MILLISECOND)) if _in_milliseconds(name) else text
    if isinstance(value, datetime):
        if takes_milliseconds(name):
            return str(milliseconds(value))
        # Only a time of Kafka records cannot be before 1970.
        return _iso(_since_1970(value))
    if _is_schema(value):
        return ddl(value)  # type: ignore[arg-type]
    if isinstance(value, (list, tuple, set, frozenset)):
        return _list_text(name, value)
    raise OptionError.of(
        "SPLICE_BUILDER.INVALID_OPTION_VALUE", option=name, type=type(value).__name__
    )


def flat(given: Iterable[object]) -> Iterator[object]:
    """Return all names or paths. An argument is one name, or an iterable of names."""
    for one in given:
        if isinstance(one, Iterable) and not isinstance(one, (str, bytes, os.PathLike)):
            yield from one
        else:
            yield one


def duration_text(name: str, value: timedelta | str) -> str:
    """Convert a duration to text such as ``10m``.

    Args:
        name: Name of the parameter, for the error.
        value: A timedelta, rounded up to milliseconds, or the text of the option. The source
            parses the text when a query loads the option.

    Raises:
        OptionError: if the value is a negative timedelta, an empty text or of another type.
    """
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise _no_duration(name, value, "is negative")
        rounded = -(-value // _MILLISECOND) * _MILLISECOND
        unit, size = next((u, s) for u, s in _UNITS if rounded % s == timedelta(0))
        return f"{rounded // size}{unit}"
    if not isinstance(value, str):
        raise _no_duration(name, value, f"is of type {type(value).__name__}")
    if not value.strip():
        raise _no_duration(name, value, "is not a duration")
    return value.strip()


def time_span(name: str, value: timedelta | float) -> timedelta:
    """Convert a timedelta, or a number of seconds, to a timedelta.

    Raises:
        OptionError: if the value is of another type, or not a finite number of seconds.
    """
    if isinstance(value, timedelta):
        return value
    value = plain(value)
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return timedelta(seconds=value)
    except (ValueError, OverflowError):
        pass
    raise OptionError.of("SPLICE_BUILDER.INVALID_TIME_SPAN", argument=name, value=repr(value))


def milliseconds(at: TimeArgument) -> int:
    """Convert a time to milliseconds since 1970-01-01 UTC.

    Raises:
        OptionError: if the time has no time zone, is before 1970, or is not a valid time.
    """
    at = plain(at)
    if isinstance(at, bool) or not isinstance(at, (datetime, str, int)):
        raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP_TYPE", type=type(at).__name__)
    if isinstance(at, int):
        millis = at
    else:
        time = parsed_time(at) if isinstance(at, str) else at
        if time is None:
            raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP_TEXT", value=repr(at))
        millis = _since_1970(time, at)
    if millis < 0:
        raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP", value=repr(at))
    return millis


def _since_1970(time: datetime, given: object = None) -> int:
    # A missing time of pandas is a datetime without methods.
    if str(time) == "NaT":
        raise OptionError.of("SPLICE_BUILDER.INVALID_TIMESTAMP_TEXT", value="NaT")
    if time.utcoffset() is None:
        raise OptionError.of("SPLICE_BUILDER.TIME_ZONE_NOT_SET", value=repr(given or time))
    return (time - _EPOCH) // _MILLISECOND


def parsed_time(text: str) -> datetime | None:
    """Parse ISO 8601 text, or return None for other text."""
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    date, hour, second, fraction, zone = (one or "" for one in found.groups())
    # Python 3.10 parses only 3 or 6 digits of a fraction, and an offset with a colon.
    offset = "+00:00" if zone in ("Z", "z") else f"{zone[:3]}:{zone[-2:]}" if zone else ""
    time = f"{hour or '00:00'}:{second or '00'}.{fraction[:6]:0<6}"
    try:
        return datetime.fromisoformat(f"{date}T{time}{offset}")
    except ValueError:
        return None


def ddl(schema: StructType) -> str:
    """Convert a schema to DDL, with the nullability and the comments of its columns.

    ``StructType.toDDL`` of PySpark needs a session, which a builder does not have.
    """
    return ", ".join(_column(field, " ") for field in schema.fields)


def _column(field: object, separator: str) -> str:
    from pyspark.sql.types import StructField

    assert isinstance(field, StructField)
    name = field.name.replace("`", "``")
    nullable = "" if field.nullable else " NOT NULL"
    comment = (field.metadata or {}).get("comment")
    text = "" if comment is None else f" COMMENT {_literal(str(comment))}"
    return f"`{name}`{separator}{_type(field.dataType)}{nullable}{text}"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _type(of: DataType) -> str:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(of, StructType):
        return f"STRUCT<{', '.join(_column(field, ': ') for field in of.fields)}>"
    if isinstance(of, ArrayType):
        return f"ARRAY<{_type(of.elementType)}>"
    if isinstance(of, MapType):
        return f"MAP<{_type(of.keyType)}, {_type(of.valueType)}>"
    return of.simpleString().upper()


def _is_schema(value: object) -> bool:
    from pyspark.sql.types import StructType

    return isinstance(value, StructType)


def _list_text(name: str, values: Iterable[object]) -> str:
    as_json = takes_json_array(name)
    paths = (os.PathLike, str) if as_json else str
    texts = [plain(one) if isinstance(one, paths) else one for one in values]
    for one in texts:
        if not isinstance(one, str) or not one.strip() or ("," in one and not as_json):
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_LIST",
                option=name,
                value=repr(one),
                allowed=_PATHS if as_json else _WITH_COMMAS,
            )
    return json.dumps(texts) if as_json else ",".join(str(one) for one in texts)


def _in_milliseconds(name: str) -> bool:
    # Properties of the Kafka client, and options of Spark's source with the same names.
    return name.endswith((".ms", "Ms"))


def _iso(millis: int) -> str:
    at = _EPOCH + millis * _MILLISECOND
    return at.replace(tzinfo=None).isoformat() + "Z"


def _no_duration(name: str, value: object, reason: str) -> OptionError:
    return OptionError.of(
        "SPLICE_BUILDER.INVALID_DURATION", argument=name, value=repr(value), reason=reason
    )
