# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of Splice in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import (
    IllegalArgumentException,
    PySparkRuntimeError,
    QueryExecutionException,
)

if TYPE_CHECKING:
    from typing_extensions import Self

_DECLARED = Path(__file__).with_name("error-conditions.json")
"""Conditions of the errors that this package raises, in the format of PySpark."""


@lru_cache(maxsize=1)
def _areas() -> dict[str, Any]:
    areas: dict[str, Any] = json.loads(_DECLARED.read_text("utf-8"))
    return areas


def _details(condition: str, parameters: Mapping[str, object]) -> tuple[str, dict[str, str], str]:
    area, _, name = condition.partition(".")
    template = " ".join(_areas()[area]["subClass"][name]["message"])
    texts = {key: str(value) for key, value in parameters.items()}
    # One pass, because a value may contain the name of another parameter.
    text = re.sub(r"<(\w+)>", lambda found: texts[found.group(1)], template)
    state: str = _areas()[area]["sqlState"]
    return f"[{condition}] {text} SQLSTATE: {state}", texts, state


class _Conditioned:
    """Condition, parameters and SQLSTATE of an error, as in PySpark's exceptions.

    A value that the JVM did not return is None.
    """

    def __init__(
        self,
        message: str,
        condition: str | None = None,
        parameters: Mapping[str, str] | None = None,
        sql_state: str | None = None,
    ) -> None:
        """Create an error with the full message, which begins with the condition in brackets."""
        super().__init__(message=message)  # type: ignore[call-arg]
        self._text = message
        self._errorClass = condition
        self._messageParameters: dict[str, str] | None = dict(parameters or {})
        self._sql_state = sql_state

    @classmethod
    def of(cls, condition: str, **parameters: object) -> Self:
        """Create an error of a declared condition."""
        text, texts, state = _details(condition, parameters)
        return cls(text, condition, texts, state)

    def getCondition(self) -> str | None:  # noqa: N802 (PySpark's name)
        """Return the error condition."""
        return self._errorClass

    def getMessageParameters(self) -> dict[str, str] | None:  # noqa: N802 (PySpark's name)
        """Return the parameters of the message."""
        return self._messageParameters

    def getSqlState(self) -> str | None:  # noqa: N802 (PySpark's name)
        """Return the SQLSTATE."""
        return self._sql_state

    def getMessage(self) -> str:  # noqa: N802 (PySpark's name)
        """Return the full message."""
        return self._text

    def __str__(self) -> str:
        """Return the full message."""
        return self._text

    def __reduce__(self) -> tuple[object, ...]:
        """Keep condition, parameters and SQLSTATE when the error is pickled."""
        state = (self._text, self._errorClass, self._messageParameters, self._sql_state)
        return type(self), state


class SourceError(_Conditioned, QueryExecutionException):
    """Error of the data, the servers or the checkpoint of a source.

    ``read()`` and ``read_stream()`` raise this error. An error that occurs later, when Spark plans
    a batch read, is PySpark's ``QueryExecutionException``, the parent of this class.
    ``getCondition()``, ``getMessageParameters()`` and ``getSqlState()`` return the same values as
    in Scala.
    """


class OptionError(SourceError, IllegalArgumentException, ValueError):
    """An option of a source is missing, unknown or malformed, or contradicts another option.

    The class extends ``pyspark.errors.IllegalArgumentException``, which PySpark raises for a bad
    argument, and Python's ``ValueError``.
    """


class SetupError(_Conditioned, PySparkRuntimeError):
    """The process, the session or the server is not configured for Splice."""
