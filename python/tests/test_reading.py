# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Creation of DataFrames, and its errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException, QueryExecutionException

from splice import FileSource, OptionError, SetupError, SourceError
from splice._internal import jvm

SOURCE = FileSource.builder("csv", "/a").option("a.b", 1).build()


class Reader:
    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.error: Exception | None = None

    def format(self, name: str) -> Reader:
        self.calls.append(name)
        return self

    def options(self, **options: str) -> Reader:
        self.calls.append(options)
        return self

    def load(self) -> str:
        if self.error:
            raise self.error
        return "frame"


class Context:
    def __init__(self, jars: str) -> None:
        self.jars = jars

    def getConf(self) -> dict[str, str]:  # noqa: N802 (PySpark's name)
        return {"spark.jars": self.jars}


class Session:
    def __init__(self, jars: str = "") -> None:
        self.read = Reader()
        self.readStream = Reader()
        self.sparkContext = Context(jars)


def test_a_stream_and_a_batch_take_the_same_options() -> None:
    session = Session()
    assert SOURCE.read_stream(session) == "frame"  # type: ignore[arg-type, comparison-overlap]
    assert SOURCE.read(session) == "frame"  # type: ignore[arg-type, comparison-overlap]
    assert session.readStream.calls == session.read.calls == ["splice", SOURCE.options()]


def test_the_error_of_a_missing_jar_contains_the_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jvm, "running", object)
    monkeypatch.setattr(jvm, "entry_point", lambda _: None)
    session = Session()
    session._jsparkSession = None  # type: ignore[attr-defined]
    with pytest.raises(SetupError, match=r"--jars .*--packages"):
        SOURCE.read(session)  # type: ignore[arg-type]


def test_an_error_of_splice_loses_the_stack_of_the_jvm() -> None:
    class CaughtError(QueryExecutionException):
        def __init__(self, condition: str) -> None:
            super().__init__(message="")
            self.condition = condition

        def getCondition(self) -> str:  # noqa: N802 (PySpark's name)
            return self.condition

        def __str__(self) -> str:
            return f"[{self.condition}] There is nothing at /a.\n\nJVM stacktrace:\n\tat a.b"

    session = Session()
    session.read.error = CaughtError("SPLICE_FILES.PATH_NOT_FOUND")
    with pytest.raises(SourceError) as raised:
        SOURCE.read(session)  # type: ignore[arg-type]
    assert str(raised.value) == "[SPLICE_FILES.PATH_NOT_FOUND] There is nothing at /a."
    assert raised.value.getCondition() == "SPLICE_FILES.PATH_NOT_FOUND"
    session.read.error = CaughtError("SOMETHING_ELSE")
    with pytest.raises(CaughtError):
        SOURCE.read(session)  # type: ignore[arg-type]


def test_an_option_error_of_the_jvm_has_its_condition_and_parameters() -> None:
    class CaughtError(IllegalArgumentException):
        def __init__(self, condition: str) -> None:
            super().__init__(message="")
            self.condition = condition

        def getCondition(self) -> str:  # noqa: N802 (PySpark's name)
            return self.condition

        def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 (PySpark's name)
            return {"option": "x"}

        def getSqlState(self) -> str:  # noqa: N802 (PySpark's name)
            return "42616"

        def __str__(self) -> str:
            return f"[{self.condition}] No option 'x'.\n\nJVM stacktrace:\n\tat a.b"

    session = Session()
    session.read.error = CaughtError("SPLICE_OPTION.UNKNOWN")
    with pytest.raises(OptionError) as raised:
        SOURCE.read(session)  # type: ignore[arg-type]
    assert str(raised.value) == "[SPLICE_OPTION.UNKNOWN] No option 'x'."
    assert raised.value.getCondition() == "SPLICE_OPTION.UNKNOWN"
    assert raised.value.getMessageParameters() == {"option": "x"}
    assert raised.value.getSqlState() == "42616"
    session.read.error = CaughtError("SOMETHING_ELSE")
    with pytest.raises(CaughtError):
        SOURCE.read(session)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("jars", "condition", "advice"),
    [
        (
            "/mine.jar",
            "JARS_REPLACED",
            r"'/mine\.jar', without Splice's jar.*call configure\(builder\) last",
        ),
        ("", "FORMAT_NOT_FOUND", r"Create the session with configure\(builder\)"),
        (
            "/x/splice-spark_2.13-9.9.jar",
            "FORMAT_NOT_FOUND",
            r"Create the session with configure\(builder\)",
        ),
    ],
)
def test_jars_that_were_replaced_after_configure_are_named(
    monkeypatch: pytest.MonkeyPatch, jars: str, condition: str, advice: str
) -> None:
    session = Session(jars)
    session._jsparkSession = None  # type: ignore[attr-defined]
    monkeypatch.setattr(jvm, "running", object)
    monkeypatch.setattr(jvm, "entry_point", lambda _: None)
    with pytest.raises(SetupError, match=advice) as raised:
        SOURCE.read(session)  # type: ignore[arg-type]
    assert raised.value.getCondition() == f"SPLICE_SETUP.{condition}"


def test_a_missing_session_is_an_error() -> None:
    with pytest.raises(SetupError, match=r"No Spark session is active.*configure"):
        SOURCE.read_stream()


def test_a_running_jvm_checks_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[dict[str, str]] = []
    unknown = {
        "message": "[SPLICE_OPTION.UNKNOWN] no",
        "condition": "SPLICE_OPTION.UNKNOWN",
        "sqlState": "42616",
        "parameters": {"option": "wrong"},
    }

    class Api:
        def check(self, options: dict[str, str]) -> str:
            requests.append(options)
            return json.dumps(unknown) if "wrong" in options else ""

    monkeypatch.setattr(jvm, "running", object)
    monkeypatch.setattr(jvm, "_session_lives", lambda: True)
    monkeypatch.setattr(jvm, "entry_point", lambda _: Api())
    FileSource.builder("csv", "/a").build()
    assert requests == [{"source": "files", "format": "csv", "path": "/a"}]
    with pytest.raises(OptionError, match="no") as raised:
        FileSource.builder("csv", "/a").option("wrong", 1).build()
    assert raised.value.getCondition() == "SPLICE_OPTION.UNKNOWN"
    assert raised.value.getMessageParameters() == {"option": "wrong"}
    assert raised.value.getSqlState() == "42616"
