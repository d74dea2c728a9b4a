# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Builder of file sources: resulting options, and rejected arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructField, StructType

from splice import FileSource, OptionError


def test_one_path() -> None:
    assert FileSource.builder("parquet", "/lake/orders/").build().options() == {
        "source": "files",
        "format": "parquet",
        "path": "/lake/orders/",
    }


def test_several_paths_are_a_json_array() -> None:
    options = FileSource.builder("csv", "/a,b", Path("/c")).build().options()
    assert json.loads(options["paths"]) == ["/a,b", "/c"]
    assert "path" not in options


def test_schema_as_ddl_or_struct() -> None:
    ddl = FileSource.builder("json", "/a").schema("id BIGINT").build()
    assert ddl.options()["schema"] == "id BIGINT"
    struct = StructType([StructField("id", LongType(), nullable=False)])
    for builder in (
        FileSource.builder("json", "/a").schema(struct),
        FileSource.builder("json", "/a").option("schema", struct),
    ):
        assert builder.build().options()["schema"] == "`id` BIGINT NOT NULL"


@pytest.mark.parametrize("paths", [["/a", Path("/b")], ("/a", "/b"), iter(["/a", "/b"])])
def test_paths_as_one_argument(paths: Iterable[str]) -> None:
    options = FileSource.builder("csv", paths).build().options()
    assert json.loads(options["paths"]) == ["/a", "/b"]
    assert FileSource.builder("csv", ["/a"]).build().options()["path"] == "/a"


def test_a_path_of_another_type_is_rejected() -> None:
    with pytest.raises(OptionError, match=r"7 is not a path.*pathlib"):
        FileSource.builder("csv", ["/a", 7])  # type: ignore[list-item]


@pytest.mark.parametrize("given", ["/lake/x", "s3a://lake/x", "x/*.parquet", "C:\\lake"])
def test_a_path_instead_of_the_format_is_detected(given: str) -> None:
    with pytest.raises(OptionError, match=r"is a path.*FileSource.builder\('parquet'") as raised:
        FileSource.builder(given).build()
    assert raised.value.getCondition() == "SPLICE_BUILDER.FORMAT_IS_PATH"


def test_a_secret_in_a_path_is_not_in_the_error() -> None:
    with pytest.raises(OptionError, match="is a path") as raised:
        FileSource.builder("ftp://me:hunter2@host/lake").build()
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("given", ["delta", "Iceberg", "hudi"])
def test_a_table_format_is_rejected(given: str) -> None:
    with pytest.raises(OptionError, match=f"'{given}' is a table format.*TableSource.format"):
        FileSource.builder(given, "/lake/table").build()


@pytest.mark.parametrize("schema", ["", " ", 5, ["id"]])
def test_other_schemas_are_rejected(schema: str) -> None:
    with pytest.raises(OptionError, match=r"'schema' (is|has)"):
        FileSource.builder("json", "/a").schema(schema)


def test_the_policy_for_no_files() -> None:
    source = FileSource.builder("parquet", "/a").on_empty("fail").build()
    assert source.options()["onEmpty"] == "fail"


def test_format_options_go_through_as_spark_writes_them() -> None:
    source = (
        FileSource.builder("csv", "/a")
        .option("header", True)
        .options(maxFilesPerTrigger=10, sep=";")
        .build()
    )
    assert source.options() == {
        "source": "files",
        "format": "csv",
        "path": "/a",
        "header": "true",
        "maxFilesPerTrigger": "10",
        "sep": ";",
    }


def test_files_are_bounded() -> None:
    assert FileSource.builder("csv", "/a").build().bounded
    assert FileSource.builder("csv", "/a", discovery="list").build().bounded


def test_a_watched_folder_is_bounded_only_with_a_condition_for_its_end() -> None:
    folder = FileSource.builder("csv", "/a", discovery="watch")
    assert not folder.build().bounded
    assert not folder.option("MODE", " Watch ").build().bounded
    assert folder.option("discovery", "list").build().bounded
    assert folder.option("endwhen", "caughtUp").build().bounded


def test_the_arguments_of_a_watched_folder_are_options() -> None:
    source = FileSource.builder(
        "parquet",
        "/a",
        discovery="watch",
        discovery_interval=timedelta(minutes=1),
        discovery_timeout="5m",
        min_file_age=timedelta(seconds=90),
        partition_order="day",
        full_listing_interval="none",
        late_file_horizon=timedelta(days=2),
        on_late_file="fail",
        end_when=["caughtUp", "quiet:1h"],
    ).build()
    assert source.options() == {
        "source": "files",
        "format": "parquet",
        "path": "/a",
        "discovery": "watch",
        "discoveryInterval": "1m",
        "discoveryTimeout": "5m",
        "minFileAge": "90s",
        "partitionOrder": "day",
        "fullListingInterval": "none",
        "lateFileHorizon": "48h",
        "onLateFile": "fail",
        "endWhen": "caughtUp,quiet:1h",
    }


def test_a_condition_for_the_end_is_one_text() -> None:
    builder = FileSource.builder("csv", "/a", discovery="watch", end_when="file:_DONE,caughtUp")
    assert builder.build().options()["endWhen"] == "file:_DONE,caughtUp"
    with pytest.raises(OptionError, match="endWhen"):
        FileSource.builder("csv", "/a", discovery="watch", end_when=["caughtUp", ""])


@pytest.mark.parametrize("paths", [(), ("",), ([],)])
def test_a_path_is_needed(paths: tuple[str, ...]) -> None:
    with pytest.raises(OptionError, match="The file source has no path") as raised:
        FileSource.builder("csv", *paths).build()
    assert raised.value.getCondition() == "SPLICE_BUILDER.EMPTY_PATH"


def test_path_together_with_paths_is_rejected() -> None:
    with pytest.raises(OptionError, match="'path' and 'paths' of a file source are set 2 times"):
        FileSource.builder("csv", "/a", "/b").option("path", "/c").build()


def test_a_format_is_needed() -> None:
    with pytest.raises(OptionError, match="needs a format"):
        FileSource.builder(" ", "/a").build()


@pytest.mark.parametrize("given", [None, 5, ["parquet"]])
def test_a_format_of_another_type_is_not_a_path(given: Any) -> None:
    with pytest.raises(OptionError, match="needs a format"):
        FileSource.builder(given, "/x")


def test_an_error_is_what_python_and_pyspark_expect() -> None:
    from pyspark.errors import IllegalArgumentException

    with pytest.raises(ValueError, match="needs a format") as raised:
        FileSource.builder("", "/a").build()
    assert isinstance(raised.value, IllegalArgumentException)


def test_a_jvm_message_keeps_its_condition() -> None:
    text = "[SPLICE_OPTION.UNKNOWN] Option 'x' is not known."
    error = OptionError(text, "SPLICE_OPTION.UNKNOWN", {"option": "x"}, "42616")
    assert error.getCondition() == "SPLICE_OPTION.UNKNOWN"
    assert error.getMessageParameters() == {"option": "x"}
    assert error.getSqlState() == "42616"
    assert str(error) == error.getMessage() == "[SPLICE_OPTION.UNKNOWN] Option 'x' is not known."
    assert OptionError("[a] no condition").getCondition() is None
