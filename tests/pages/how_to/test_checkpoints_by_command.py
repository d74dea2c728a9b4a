# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the commands and the program of the page about checkpoints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.checkpoints.stopped import Stopped, of_offsets
from pages.page import Page
from servers.kafka.cluster import KafkaCluster
from splice.cli.main import main

PAGE = Page("docs/how-to/checkpoints-by-command.md")


def _commands() -> list[tuple[str, str]]:
    """Return each command with the output that follows the command; "" without an output."""
    text = PAGE.path.read_text("utf-8")
    found = re.findall(
        r"^( *)```sh\n(.*?)^ *```\n(?:\n *```text\n(.*?)^ *```)?", text, re.DOTALL | re.MULTILINE
    )
    return [(code.strip(), re.sub(rf"(?m)^{indent}", "", output)) for indent, code, output in found]


COMMANDS = _commands()


@pytest.fixture(scope="module")
def query(
    spark: SparkSession, kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Stopped:
    """A stopped query over the topic of the page."""
    return Stopped("kafka", spark, kafka.topics, tmp_path_factory.mktemp("page"))


class Places:
    """Replacements of the addresses, topics and folders of the page."""

    def __init__(self, folder: Path, query: Stopped) -> None:
        """Copy the checkpoint of the query to the folders of the page."""
        self.orders = query.copy(folder / "orders")
        self.shown = {
            "/checkpoints/orders": str(self.orders.path),
            "/checkpoints/new": str(folder / "new"),
            "/lake/orders-2": str(folder / "out"),
            "broker:9092": self.orders.servers,
            '"orders"': f'"{query.topic}"',
        }


def test_the_commands_and_the_program(
    spark: SparkSession, query: Stopped, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, (command, output) in enumerate(COMMANDS):
        places = Places(tmp_path / str(number), query)
        capsys.readouterr()
        assert main(shlex.split(PAGE.replaced(command, places.shown))[1:]) == 0
        printed = capsys.readouterr().out.replace(query.topic, "orders")
        lines = output.splitlines()
        if "checkpoint show" in command:
            printed = re.sub("query id: .*", lines[0], printed)
            lines.remove("    ...")
            assert printed.splitlines()[: len(lines)] == lines
        elif output:
            assert printed.splitlines() == lines
    run_the_program(spark, query, tmp_path / "program")
    PAGE.assert_all_executed()


def run_the_program(spark: SparkSession, query: Stopped, folder: Path) -> None:
    """Run the program of the page, which continues at the printed offsets."""
    places = Places(folder, query)
    (program,) = PAGE.blocks("python")
    PAGE.run(program, places.shown, {"spark": spark})
    rows = spark.read.parquet(places.shown["/lake/orders-2"]).collect()
    unread = [one for partition in range(2) for one in of_offsets(partition, range(20, 25))]
    assert sorted(row["key"].decode() for row in rows) == sorted(unread)
