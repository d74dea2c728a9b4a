# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of Splice in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import (
    IllegalArgumentException,
    PySparkException,
    PySparkRuntimeError,
    QueryExecutionException,
)

from splice._internal.conditions import details

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self


class SpliceError(PySparkException):
    """Base class of the errors of Splice, with condition, parameters and SQLSTATE.

    A value that the JVM did not return is None.

    Examples:
        >>> try:
        ...     KafkaSource.builder().starting_offsets("oldest")
        ... except SpliceError as error:
        ...     print(error.getCondition(), error.getSqlState())
        SPLICE_BUILDER.INVALID_POSITION 42616
    """

    def __init__(
        self,
        message: str,
        condition: str | None = None,
        parameters: Mapping[str, str] | None = None,
        sql_state: str | None = None,
    ) -> None:
        """Create an error with the full message, which begins with the condition in brackets."""
        super().__init__(message=message)
        self._text = message
        self._errorClass = condition
        self._messageParameters: dict[str, str] | None = dict(parameters or {})
        self._sql_state = sql_state

    @classmethod
    def of(cls, condition: str, **parameters: object) -> Self:
        """Create an error of a declared condition."""
        text, texts, state = details(condition, parameters)
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


class SourceError(SpliceError, QueryExecutionException):
    """Error of the data, the servers or the checkpoint of a source.

    ``read()``, ``read_stream()``, ``plan()`` and ``query_history()`` raise this error. An error
    that occurs later, when Spark plans a batch read, is PySpark's ``QueryExecutionException``, the
    parent of this class.
    ``getCondition()``, ``getMessageParameters()`` and ``getSqlState()`` return the same values as
    in Scala.

    Examples:
        >>> try:
        ...     FileSource.builder("parquet", "/lake/none").build().read(spark)
        ... except SourceError as error:
        ...     print(error.getCondition())
        SPLICE_FILES.PATH_NOT_FOUND
    """


class OptionError(SpliceError, IllegalArgumentException, ValueError):
    """An option of a source is missing, unknown or malformed, or contradicts another option.

    Builders, ``build()``, ``read()``, ``read_stream()`` and ``plan()`` raise this error. The class
    extends ``pyspark.errors.IllegalArgumentException``, which PySpark raises for a bad argument,
    and Python's ``ValueError``.

    Examples:
        >>> try:
        ...     FileSource.builder("/lake/orders").build()
        ... except OptionError as error:
        ...     print(error.getCondition(), error.getMessageParameters())
        SPLICE_BUILDER.FORMAT_IS_PATH {'value': '/lake/orders'}
    """


class SetupError(SpliceError, PySparkRuntimeError):
    """The process, the session or the server is not configured for Splice.

    Examples:
        >>> from pyspark.sql import SparkSession
        >>> try:
        ...     configure(SparkSession.builder.remote("sc://server:15002"))
        ... except SetupError as error:
        ...     print(error.getCondition())
        SPLICE_SETUP.CONNECT_NOT_SUPPORTED
    """
