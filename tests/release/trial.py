# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Installs a release from a local index and a local repository, and runs the documented queries.

The first program, of the README, runs in an environment with PySpark and the wheel. The second
program, of "Getting started", runs by spark-submit with the option --packages, in the same
environment without the wheel. Both read an archive and a topic of a real broker.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pyarrow.parquet as pq
import pyspark

from orders import archive, assert_each_once, orders
from pages.page import Page
from servers.kafka.cluster import KafkaCluster

_ORDERS = range(90)
_OWN = ("PYTHONPATH", "SPARK_HOME", "SPLICE_JARS", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
_SESSION = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
"""
_READ_ALL = """
query.processAllAvailable()
query.stop()
spark.stop()
"""
_DRAIN = """
query = (df.writeStream.format("parquet").option("path", {out!r})
         .option("checkpointLocation", {checkpoint!r}).trigger(availableNow=True).start())
query.awaitTermination()
spark.stop()
"""


class Trial:
    """A folder with an environment of Python and the output of programs."""

    def __init__(self, folder: Path, names: dict[str, str]) -> None:
        """Take an empty folder, and the values of the names in the README."""
        self._folder, self._names = folder, names
        self._bin = folder / "venv" / "bin"

    def install(self, index: Path, version: str) -> None:
        """Create an environment with PySpark and the wheel of an index."""
        self._run(sys.executable, "-m", "venv", str(self._bin.parent))
        pip = (str(self._bin / "pip"), "--disable-pip-version-check", "--quiet")
        self._run(*pip, "install", f"pyspark=={pyspark.__version__}", "rich")
        arguments = ("--no-cache-dir", "--index-url", index.as_uri(), f"splice-spark=={version}")
        self._run(*pip, "install", *arguments)

    def python(self) -> None:
        """Run the section of the README that uses the package."""
        folder = self._section_folder("python")
        code = Page("README.md").section("python").replace("/tables/orders/", str(folder / "out"))
        code = code.replace("/checkpoints/orders/", str(folder / "checkpoint"))
        program = self._program(folder, code + _READ_ALL)
        self._run(str(self._bin / "python"), str(program))

    def packages(self, repository: Path, version: str) -> None:
        """Run the section of "Getting started" that uses options, without the package."""
        pip = (str(self._bin / "pip"), "--disable-pip-version-check", "--quiet")
        self._run(*pip, "uninstall", "--yes", "splice-spark")
        settings = ("--master", "local[2]", "--conf", f"spark.jars.ivy={self._folder / 'ivy'}")
        package = f"io.github.splice:splice-spark_2.13:{version}"
        found = ("--packages", package, "--repositories", repository.as_uri())
        folder = self._section_folder("options")
        drain = _DRAIN.format(out=str(folder / "out"), checkpoint=str(folder / "checkpoint"))
        code = _SESSION + Page("docs/getting-started.md").section("options") + drain
        program = str(self._program(folder, code))
        self._run(str(self._bin / "spark-submit"), *settings, *found, program)

    def ids(self, name: str) -> list[str]:
        """Return the ids of the orders that the program of a section wrote."""
        found: list[str] = pq.read_table(self._folder / name / "out")["order_id"].to_pylist()
        return found

    def _section_folder(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder

    def _program(self, folder: Path, code: str) -> Path:
        for shown, real in self._names.items():
            code = code.replace(shown, real)
        program = folder / "query.py"
        program.write_text(code)
        return program

    def _run(self, *command: str) -> None:
        env = {name: value for name, value in os.environ.items() if name not in _OWN}
        env |= {"PYSPARK_PYTHON": str(self._bin / "python"), "SPARK_LOCAL_IP": "127.0.0.1"}
        done = subprocess.run(command, cwd=self._folder, env=env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-6000:]}")


def main() -> None:
    """Run both programs and compare their rows with the produced orders."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    for name in ("--maven", "--index", "--folder"):
        parser.add_argument(name, type=Path, required=True)
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    topic, history = f"orders-{uuid.uuid4().hex[:8]}", given.folder / "history"
    with KafkaCluster() as kafka:
        kafka.topics.create(topic, 3)
        kafka.topics.produce(topic, orders(_ORDERS, 3))
        archive(kafka.topics, topic, history, {0: 10, 1: 20, 2: 30})
        places = {
            "/lake/orders/": str(history),
            "broker:9092": kafka.topics.bootstrap_servers,
            '"orders"': f'"{topic}"',
        }
        trial = Trial(given.folder, places)
        trial.install(given.index, given.version)
        trial.python()
        assert_each_once(trial.ids("python"), _ORDERS)
        print(f"pip install splice-spark=={given.version}: {len(_ORDERS)} orders, each once")
        trial.packages(given.maven, given.version)
        assert_each_once(trial.ids("options"), _ORDERS)
        print(f"--packages splice-spark_2.13:{given.version}: {len(_ORDERS)} orders, each once")


if __name__ == "__main__":
    main()
