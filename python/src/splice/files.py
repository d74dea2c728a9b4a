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
    from collections.abc import Mapping
    from datetime import timedelta

    from pyspark.sql.types import StructType

    from splice._internal.values import Names, OptionValue

PathArgument: TypeAlias = Union[str, "os.PathLike[str]"]

Paths: TypeAlias = PathArgument | Iterable[PathArgument]

_TABLE_FORMATS = ("delta", "iceberg", "hudi")


class FileSource(SourceSpec):
    """Source of the files that some paths have at the first start of the query.

    With ``discovery="watch"``, the source also reads files that arrive later.

    Examples:
        >>> source = FileSource.builder("parquet", "/lake/orders").build()
        >>> source.read(spark).count()
        30
    """

    kind = "files"

    @property
    def bounded(self) -> bool:
        """True unless the source watches a folder without a condition for the end.

        Examples:
            >>> FileSource.builder("parquet", "/lake/orders", discovery="watch").build().bounded
            False
        """
        return self._is_bounded_with({})

    def _is_bounded_with(self, options: Mapping[str, str]) -> bool:
        """Return True if the source has an end when these options replace its options."""
        all_of = self._options.updated(options)
        is_watched = all_of.get("discovery", "list").strip().lower() == "watch"
        return not is_watched or bool(all_of.named("endWhen"))

    @staticmethod
    def builder(
        format: str,  # noqa: A002 (Spark's name)
        *paths: Paths,
        discovery: Literal["list", "watch"] | None = None,
        discovery_interval: timedelta | str | None = None,
        discovery_timeout: timedelta | str | None = None,
        min_file_age: timedelta | str | None = None,
        partition_order: str | None = None,
        full_listing_interval: timedelta | str | None = None,
        late_file_horizon: timedelta | str | None = None,
        on_late_file: Literal["fail", "warn"] | None = None,
        end_when: Names | None = None,
    ) -> FileSourceBuilder:
        """Return a builder for files of a format.

        All arguments after ``discovery`` need ``discovery="watch"``. A duration is a timedelta, or
        text such as ``30s``.

        Args:
            format: Format of Spark: ``parquet``, ``orc``, ``json``, ``csv`` or ``text``.
            paths: One or several files, folders or globs, as separate values or as a list.
            discovery: ``list`` (default): the files that exist at the first start of the query.
                ``watch``: also the files that arrive later. Each file is read once.
            discovery_interval: Pause between two listings. The default is ``10s``. The pause is at
                least as long as the last listing.
            discovery_timeout: Time after which listings that fail one after another end the query.
                The default is ``10m``.
            min_file_age: Time since the last modification of a file before the file is read, for
                writers that do not create a file as a whole. The default is ``0s``.
            partition_order: Column of folder names that grows with time, such as ``day``. Most
                listings then skip the folders with a smaller value than the greatest value so far.
                By default, each listing has all folders.
            full_listing_interval: With ``partition_order``: interval of the listings of all
                folders. The default is ``1h``. With ``none``, only the first listing of a run has
                all folders.
            late_file_horizon: Age after which the query may forget a file that it has read, if
                the query has read more than 1,000,000 files. The age counts from the newest file.
                The default is ``7d``. With ``none``, the query forgets no file.
            on_late_file: Policy for new files that are older than forgotten files: ``fail`` ends
                the query; ``warn`` (default) logs a warning and does not read the files.
            end_when: Conditions that end the folder, so that another leg can follow, as text with
                commas or as a list. The first condition that holds is enough. ``caughtUp``: a
                listing after all files were read has no new file, or at least half of the bytes of
                the previous such listing. ``quiet:1h``: listings have found no new file for one
                hour. ``file:_DONE``: a file of this name exists in each path. By default, the
                folder has no end.

        Examples:
            >>> FileSource.builder("csv", ["/lake/2025", "/lake/2026"]).option("header", True)
            FileSourceBuilder(format='csv', paths='["/lake/2025", "/lake/2026"]', header='true')
            >>> FileSource.builder(
            ...     "parquet", "/lake/new", discovery="watch", end_when=["caughtUp", "file:_DONE"]
            ... )
            FileSourceBuilder(format='parquet', path='/lake/new', discovery='watch',
                              endWhen='caughtUp,file:_DONE')
        """
        given: dict[str, OptionValue | None] = {
            "discovery": discovery,
            "discoveryInterval": discovery_interval,
            "discoveryTimeout": discovery_timeout,
            "minFileAge": min_file_age,
            "partitionOrder": partition_order,
            "fullListingInterval": full_listing_interval,
            "lateFileHorizon": late_file_horizon,
            "onLateFile": on_late_file,
            "endWhen": end_when,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return FileSourceBuilder(format, *paths).options(chosen)


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
                not read. With ``discovery="watch"`` and a schema, ``warn`` waits for files.

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
