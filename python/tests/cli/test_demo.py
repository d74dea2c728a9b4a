# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Topic and queries of ``splice demo``, without Spark and without a broker."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from py4j.protocol import Py4JJavaError

from splice.cli import USAGE
from splice.cli.demo import commands as demo
from splice.cli.demo.topic import DemoTopic
from splice.cli.main import main

MISSING = "UnknownTopicOrPartitionException"


class JavaError:
    """Java exception with a cause."""

    _target_id = "o1"

    def __init__(self, message: str | None, kind: str, cause: JavaError | None = None) -> None:
        self._message, self._kind, self._cause = message, kind, cause

    def getCause(self) -> JavaError | None:  # noqa: N802
        return self._cause

    def getMessage(self) -> str | None:  # noqa: N802
        return self._message

    def getClass(self) -> Any:  # noqa: N802
        return SimpleNamespace(getSimpleName=lambda: self._kind)

    def toString(self) -> str:  # noqa: N802
        return self._kind


def failure(message: str | None, kind: str = "TimeoutException") -> Py4JJavaError:
    """Return the error of a future."""
    outer = JavaError("outer", "ExecutionException", JavaError(message, kind))
    return Py4JJavaError("failed", outer)


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Admin client of the JVM."""
    jvm = MagicMock()
    monkeypatch.setattr("splice._internal.jvm.running", lambda: jvm)
    client: MagicMock = jvm.org.apache.kafka.clients.admin.AdminClient.create
    client.return_value.create = client
    return client.return_value  # type: ignore[no-any-return]


def test_an_address_that_cannot_be_resolved_is_named(admin: MagicMock) -> None:
    admin.create.side_effect = failure("No resolvable bootstrap urls", "ConfigException")
    with (
        pytest.raises(OSError, match=r"^no-such-host:9092: No resolvable bootstrap urls$"),
        DemoTopic("no-such-host:9092", {}),
    ):
        pass


def test_a_failed_deletion_keeps_the_result(
    admin: MagicMock, capsys: pytest.CaptureFixture[str]
) -> None:
    admin.deleteTopics().all().get.side_effect = failure(None)
    with DemoTopic("broker:9092", {}) as topic:
        pass
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"The topic {topic.name} was not deleted: broker:9092: TimeoutException. "
        "Delete the topic.\n"
    )
    admin.close.assert_called_once_with()


@pytest.mark.parametrize("interrupt", [failure("timeout"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("deletion", "text"),
    [
        (None, ""),
        (failure("none", MISSING), ""),
        (failure("no leader"), "was not deleted: broker:9092: no leader. Delete the topic.\n"),
    ],
)
def test_a_topic_whose_creation_was_interrupted_is_deleted(
    admin: MagicMock,
    capsys: pytest.CaptureFixture[str],
    interrupt: BaseException,
    deletion: Exception | None,
    text: str,
) -> None:
    admin.createTopics().all().get.side_effect = interrupt
    admin.deleteTopics.return_value.all.return_value.get.side_effect = deletion
    with pytest.raises((OSError, KeyboardInterrupt)), DemoTopic("broker:9092", {}):
        pass
    admin.deleteTopics.assert_called_once()
    admin.close.assert_called_once_with()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith(text) if text else not captured.err


def test_a_query_without_a_batch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_WAIT", 0)
    query = MagicMock(recentProgress=[], isActive=True)
    with pytest.raises(OSError, match="committed no batch within 0 seconds"):
        demo._await_rows(query)


def test_a_query_that_fails_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "_WAIT", 0)
    query = MagicMock(recentProgress=[], isActive=True)
    run = demo._Demo(MagicMock(), tmp_path)
    monkeypatch.setattr(run, "_start", lambda *_, **__: query)
    with pytest.raises(OSError, match="no batch"):
        run.run(MagicMock())
    query.stop.assert_called_once_with()


def test_late_rows_need_servers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "late"]) == USAGE
    assert capsys.readouterr().err == "splice demo late needs --servers.\n"


@pytest.mark.parametrize("option", [("--kafka", "a=b"), ("--kafka-file", "client.properties")])
def test_properties_without_servers_are_an_error(
    option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", *option]) == USAGE
    assert capsys.readouterr().err == f"{option[0]} needs --servers.\n"
