# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of Splice in Python."""

from __future__ import annotations

import re

from pyspark.errors import (
    IllegalArgumentException,
    PySparkRuntimeError,
    QueryExecutionException,
)

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]*)\] ")


class SourceError(QueryExecutionException):
    """Error of the data, the servers or the checkpoint of a source.

    ``read()`` and ``read_stream()`` raise this error. An error that occurs later, when Spark plans
    a batch read, is PySpark's ``QueryExecutionException``, the parent of this class. A message of
    the JVM begins with its error condition in brackets, which ``getCondition()`` returns.
    """

    def __init__(self, message: str) -> None:
        """Create an error with the full message, with or without a leading condition."""
        super().__init__(message=message)
        self._text = message
        found = _CONDITION.match(message)
        self._condition = found.group(1) if found else None

    def getCondition(self) -> str | None:  # noqa: N802 (PySpark's name)
        """Return the error condition of a message of the JVM, or None."""
        return self._condition

    def getMessage(self) -> str:  # noqa: N802 (PySpark's name)
        """Return the full message."""
        return self._text

    def __str__(self) -> str:
        """Return the full message."""
        return self._text


class OptionError(SourceError, IllegalArgumentException, ValueError):
    """An option of a source is missing, unknown or malformed, or contradicts another option.

    The class extends ``pyspark.errors.IllegalArgumentException``, which PySpark raises for a bad
    argument, and Python's ``ValueError``.
    """


class SetupError(PySparkRuntimeError):
    """The process, the session or the server is not configured for Splice."""

    def __init__(self, message: str) -> None:
        """Create an error with the full message."""
        super().__init__(message=message)
