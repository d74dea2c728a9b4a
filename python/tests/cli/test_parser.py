# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parser of the command ``splice``, its exit codes and its option files, without Spark."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JJavaError

from splice import OptionError
from splice._internal.jars import sets_jars
from splice.cli import main as commands
from splice.cli.environment import findings
from splice.cli.options import OptionFile, client
from splice.cli.session import local_session


class JavaError:
    """Java exception of py4j."""

    _target_id = "o1"

    def __str__(self) -> str:
        return "java.lang.RuntimeException: no such class"


def all_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from all_parsers(inner)


def test_no_parser_accepts_abbreviated_options() -> None:
    found = list(all_parsers(commands.parser()))
    assert len(found) > 10
    assert not any(parser.allow_abbrev for parser in found)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError("no disk"), "no disk"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "'utf-8' codec can't decode"),
        (Py4JJavaError("failed", JavaError()), "java.lang.RuntimeException: no such class\n"),
        (Py4JError("no connection"), "Py4JError: no connection\n"),
    ],
)
def test_a_command_that_could_not_run_has_exit_code_2(
    error: Exception,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise error

    given = argparse.Namespace(run=run)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", lambda *_: given)
    assert commands.main([]) == commands.USAGE
    assert capsys.readouterr().err.startswith(text)


def test_a_defect_of_a_command_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    given = argparse.Namespace(run=lambda _: [][0])
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", lambda *_: given)
    with pytest.raises(IndexError):
        commands.main([])


def test_a_setting_without_a_value_is_an_error() -> None:
    with (
        pytest.raises(OptionError, match=r"^--conf: an argument is not NAME=VALUE") as error,
        local_session(argparse.Namespace(conf=["spark.x.secret"])),
    ):
        pass
    assert "secret" not in str(error.value)


def test_a_connect_server_of_the_environment_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://server")
    with (
        pytest.raises(OSError, match="Unset SPARK_REMOTE"),
        local_session(argparse.Namespace(conf=[])),
    ):
        pass


def test_properties_come_from_a_file_and_arguments(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# Login\nkafka.sasl.jaas.config = a=b\nsecurity.protocol=SSL\n")
    given = commands.parser().parse_args(
        ["checkpoint", "verify", "/c", "--servers", "broker:9092", "--kafka-file", str(file)]
    )
    assert client(given)["security.protocol"] == "SSL"
    given.kafka = ["kafka.security.protocol=SASL_SSL"]
    assert client(given) == {
        "sasl.jaas.config": "a=b",
        "security.protocol": "SASL_SSL",
        "bootstrap.servers": "broker:9092",
    }


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "query.options"
    file.write_bytes(b"\xff=1\n")
    with pytest.raises(OptionError, match=r"query\.options: the file is not UTF-8 text"):
        OptionFile(str(file))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--jars a.jar", True),
        ("--jars=a.jar", True),
        ("--conf spark.jars=a.jar", True),
        ("-c spark.jars=a.jar", True),
        ("--conf=spark.jars=a.jar", True),
        ("--conf spark.jars.packages=a:b:1", False),
        ("--conf spark.x=--jars", False),
    ],
)
def test_doctor_finds_jars_of_submit_arguments(
    arguments: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*arguments.split(), "pyspark-shell"]
    assert sets_jars(words) == expected
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", " ".join(words))
    lines = [str(one) for one in findings() if "PYSPARK_SUBMIT_ARGS" in one.text]
    assert ("failed   PYSPARK_SUBMIT_ARGS sets jars" in lines[0]) == expected
