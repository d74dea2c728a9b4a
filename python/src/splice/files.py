# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias, Union

from splice._internal.secrets import redacted
from splice._internal.values import ddl, flat
from splice.errors import OptionError
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PathArgument: TypeAlias = Union[str, "os.PathLike[str]"]

Paths: TypeAlias = PathArgument | Iterable[PathArgument]

_TABLE_FORMATS = ("delta", "iceberg", "hudi")


class FileSource(SourceSpec):
    """Source of the files that some paths have at the first start of the query.

    The source is bounded.

    Examples:
        >>> source = FileSource.builder("parquet", "/lake/orders").build()
        >>> source.read(spark).count()
        30
    """

    kind = "files"

    @property
    def bounded(self) -> bool:
        """Always True, because the source does not read files that arrive later."""
        return True

    @staticmethod
    def builder(format: str, *paths: Paths) -> FileSourceBuilder:  # noqa: A002 (Spark's name)
        """Return a builder for files of a format.

        Args:
            format: Format of Spark: ``parquet``, ``orc``, ``json``, ``csv`` or ``text``.
            paths: One or several files, folders or globs, as separate values or as a list.

        Examples:
            >>> FileSource.builder("csv", ["/lake/2025", "/lake/2026"]).option("header", True)
            FileSourceBuilder(format='csv', paths='["/lake/2025", "/lake/2026"]', header='true')
        """
        return FileSourceBuilder(format, *paths)


class FileSourceBuilder(SourceBuilder[FileSource]):
    """Builder of a FileSource. Spark's reader receives all options that Splice does not have.

    Examples:
        >>> base = FileSource.builder("parquet", "/lake/orders")
        >>> small = base.option("maxFilesPerTrigger", 1)
        >>> large = base.option("maxFilesPerTrigger", 100)
        >>> base
        FileSourceBuilder(format='parquet', path='/lake/orders')
        >>> small
        FileSourceBuilder(format='parquet', path='/lake/orders', maxFilesPerTrigger='1')
    """

    def __init__(self, format: str, *paths: Paths) -> None:  # noqa: A002 (Spark's name)
        """Create a builder with the format and the paths; use ``FileSource.builder`` instead."""
        if not isinstance(format, (str, os.PathLike)):
            raise OptionError.of("SPLICE_BUILDER.FORMAT_NOT_SET")
        texts = [_path(one) for one in flat(paths)]
        given = {"path": texts[0]} if len(texts) == 1 else {"paths": texts} if texts else {}
        super().__init__({"format": _path(format), **given})

    def schema(self, schema: StructType | str) -> FileSourceBuilder:
        """Return a builder with a schema. By default Splice infers the schema from the files.

        Args:
            schema: DDL such as ``id BIGINT, name STRING``, or a StructType. Splice keeps names,
                types, nullability and comments of a StructType.

        Raises:
            OptionError: if the schema is of another type or empty.

        Examples:
            >>> builder = FileSource.builder("parquet", "/lake/orders").schema("order_id STRING")
            >>> builder.build().read(spark).columns
            ['order_id']
        """
        text = schema if isinstance(schema, str) else _ddl_of(schema)
        if not text.strip():
            raise OptionError.of("SPLICE_BUILDER.EMPTY_SCHEMA")
        return self.option("schema", text)

    def on_empty(self, policy: Literal["fail", "warn"]) -> FileSourceBuilder:
        """Return a builder with a policy for paths without files.

        The default is ``fail`` for a leg that another leg follows, otherwise ``warn``.

        Args:
            policy: ``fail`` raises an error; after a restart, Splice lists the files again.
                ``warn`` logs a warning and stores the empty list, so files that arrive later are
                not read.

        Examples:
            >>> FileSource.builder("parquet", "/lake/orders").on_empty("warn")
            FileSourceBuilder(format='parquet', path='/lake/orders', onEmpty='warn')
        """
        return self.option("onEmpty", policy)

    def _make(self) -> FileSource:
        self._reject_chain_options()
        self._check_format(self._options["format"].strip())
        given = self._options.named("path", "paths")
        if len(given) > 1:
            raise OptionError.of("SPLICE_BUILDER.DUPLICATE_PATHS", count=len(given))
        if not given or not self._options[given[0]].strip():
            raise OptionError.of("SPLICE_BUILDER.EMPTY_PATH")
        return FileSource(self._options)

    def _check_format(self, given: str) -> None:
        if not given:
            raise OptionError.of("SPLICE_BUILDER.FORMAT_NOT_SET")
        if any(mark in given for mark in "/\\:*"):
            raise OptionError.of("SPLICE_BUILDER.FORMAT_IS_PATH", value=redacted("path", given))
        if given.lower() in _TABLE_FORMATS:
            raise OptionError.of("SPLICE_BUILDER.TABLE_FORMAT_NOT_SUPPORTED", format=given)


def _path(given: object) -> str:
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    raise OptionError.of("SPLICE_BUILDER.INVALID_PATH", value=repr(given))


def _ddl_of(schema: StructType) -> str:
    from pyspark.sql.types import StructType

    if isinstance(schema, StructType):
        return ddl(schema)
    raise OptionError.of("SPLICE_BUILDER.INVALID_SCHEMA", type=type(schema).__name__)
