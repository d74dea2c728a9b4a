# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What Splice raises in Python."""

from __future__ import annotations

import re

from pyspark.errors import (
    IllegalArgumentException,
    PySparkRuntimeError,
    QueryExecutionException,
)

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]*)\] ")


class SourceError(QueryExecutionException):
    """A source cannot be read: its data, its servers or its checkpoint are not as they must be.

    ``read()`` and ``read_stream()`` raise it. What is found out later, when Spark plans a batch
    read, comes as PySpark's own ``QueryExecutionException``, of which this is a kind. A message
    that comes from the JVM begins with its error condition in brackets; ``getCondition()`` gives
    it.
    """

    def __init__(self, message: str) -> None:
        """Takes the full message, with or without a leading condition."""
        super().__init__(message=message)
        self._text = message
        found = _CONDITION.match(message)
        self._condition = found.group(1) if found else None

    def getCondition(self) -> str | None:  # noqa: N802 (PySpark's name)
        """Gives the error condition of a message made by the JVM, else None."""
        return self._condition

    def getMessage(self) -> str:  # noqa: N802 (PySpark's name)
        """Gives the full message."""
        return self._text

    def __str__(self) -> str:
        """Gives the full message."""
        return self._text


class OptionError(SourceError, IllegalArgumentException, ValueError):
    """An option of a source is missing, unknown, malformed or contradicts another one.

    It is both what PySpark raises for a bad argument
    (``pyspark.errors.IllegalArgumentException``) and Python's ``ValueError``.
    """


class SetupError(PySparkRuntimeError):
    """The process, the session or the server is not set up to run Splice."""

    def __init__(self, message: str) -> None:
        """Takes the full message."""
        super().__init__(message=message)
