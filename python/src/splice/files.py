# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Literal, TypeAlias, Union

from splice.errors import OptionError
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PathArgument: TypeAlias = Union[str, "os.PathLike[str]"]


class FileSource(SourceSpec):
    """The files that lie under some paths when the query first starts; a bounded source."""

    kind = "files"

    @property
    def bounded(self) -> bool:
        """Always True, because the source does not read files that arrive later."""
        return True

    @staticmethod
    def builder(format: str, *paths: PathArgument) -> FileSourceBuilder:  # noqa: A002 (Spark's name)
        """Return a builder for files of a format.

        Args:
            format: Format of Spark: ``parquet``, ``orc``, ``json``, ``csv`` or ``text``.
            paths: One or more files, folders or globs.
        """
        return FileSourceBuilder(format, *paths)


class FileSourceBuilder(SourceBuilder[FileSource]):
    """Builder of a FileSource. Spark's reader receives all options that Splice does not have."""

    def __init__(self, format: str, *paths: PathArgument) -> None:  # noqa: A002 (Spark's name)
        """Create a builder with the format and the paths; use ``FileSource.builder`` instead."""
        super().__init__()
        self._options.set("format", format)
        if len(paths) == 1:
            self._options.set("path", os.fspath(paths[0]))
        elif paths:
            self._options.set("paths", json.dumps([os.fspath(path) for path in paths]))

    def schema(self, schema: StructType | str) -> FileSourceBuilder:
        """Set the schema. By default Splice infers the schema from the files.

        Args:
            schema: DDL such as ``id BIGINT, name STRING``, or a StructType.

        Raises:
            OptionError: if the schema is of another type or empty.
        """
        text = schema if isinstance(schema, str) else _json_of(schema)
        if not text.strip():
            raise OptionError.of("SPLICE_BUILDER.EMPTY_SCHEMA")
        self._options.set("schema", text)
        return self

    def on_empty(self, policy: Literal["fail", "warn"]) -> FileSourceBuilder:
        """Set the policy for paths without files.

        The default is ``fail`` for a leg that another leg follows, otherwise ``warn``.

        Args:
            policy: ``fail`` raises an error; after a restart, Splice lists the files again.
                ``warn`` logs a warning and stores the empty list, so files that arrive later are
                not read.
        """
        return self.option("onEmpty", policy)

    def _make(self) -> FileSource:
        self._reject_chain_options()
        if not self._options["format"].strip():
            raise OptionError.of("SPLICE_BUILDER.FORMAT_NOT_SET")
        given = self._options.named("path", "paths")
        if len(given) != 1 or not self._options[given[0]].strip():
            if len(given) != 1:
                raise OptionError.of("SPLICE_BUILDER.DUPLICATE_PATHS", count=len(given))
            raise OptionError.of("SPLICE_BUILDER.EMPTY_PATH")
        return FileSource(self._options)


def _json_of(schema: StructType) -> str:
    from pyspark.sql.types import StructType

    if isinstance(schema, StructType):
        return schema.json()
    raise OptionError.of("SPLICE_BUILDER.INVALID_SCHEMA", type=type(schema).__name__)
