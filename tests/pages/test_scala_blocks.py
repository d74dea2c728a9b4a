# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Compile the Scala blocks of all pages in one run of the compiler, and execute the blocks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from orders import assert_each_once
from pages.page import Page
from programs.launch import PATIENCE
from servers.kafka.topics import KafkaTopics
from splice._internal.jars import jar_paths

STARTED = Page("docs/getting-started.md", by="tests/pages/test_scala_blocks.py")
DYNAMIC = Page("docs/dynamic-kafka.md", by="tests/pages/test_scala_blocks.py")
QUICK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A short program ends before an optimizing compiler pays off."""


def test_the_builders_and_the_metadata_service(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    shown = {
        '"/lake/orders/"': f'"{history_path}"',
        '"/lake': f'"{tmp_path}/lake',
        '"/checkpoints': f'"{tmp_path}/checkpoints',
        '"/jars': f'"{tmp_path}',
        "broker:9092": topics.bootstrap_servers,
        "east-1:9092": topics.bootstrap_servers,
        'topics("orders")': f'topics("{topic}")',
        'SortedSet("orders")': f'SortedSet("{topic}")',
    }
    (builders,), (inventory,) = STARTED.blocks("scala"), DYNAMIC.blocks("scala")
    code = STARTED.replaced(builders, shown)
    imports = "".join(re.findall(r"^import .*\n", code, re.MULTILINE))
    body = re.sub(r"^import .*\n", "", code, flags=re.MULTILINE)
    block = (
        f"{imports}\nobject Block {{\n"
        f"  def run(spark: org.apache.spark.sql.SparkSession) = {{\n{body}\n    df\n  }}\n}}\n"
    )
    compile_scala(
        {"Block": block, "Inventory": DYNAMIC.replaced(inventory, shown)}, tmp_path / "classes"
    )
    assert java_stream(spark, tmp_path / "classes").schema().fieldNames()[0] == "order_id"
    STARTED.assert_all_executed()

    with zipfile.ZipFile(tmp_path / "inventory.jar", "w") as jar:
        for file in (tmp_path / "classes" / "com").rglob("*.class"):
            jar.write(file, file.relative_to(tmp_path / "classes"))
    (program,) = DYNAMIC.blocks("python")
    script = tmp_path / "program.py"
    script.write_text(DYNAMIC.replaced(program, shown))
    command = [sys.executable, str(script)]
    subprocess.run(command, check=True, timeout=PATIENCE, cwd=tmp_path, env=os.environ | QUICK)
    rows = spark.read.parquet(str(tmp_path / "lake" / "inventory")).collect()
    assert {(row["_stream"], row["_cluster"]) for row in rows} == {("orders", "east")}
    assert_each_once((row["key"].decode() for row in rows), range(60))
    DYNAMIC.assert_all_executed()


def compile_scala(sources: Mapping[str, str], folder: Path) -> None:
    """Compile source files over Spark and Splice, and write their classes to a folder."""
    folder.mkdir()
    files = [folder / f"{name}.scala" for name in sources]
    for file, source in zip(files, sources.values(), strict=True):
        file.write_text(source)
    spark = f"{Path(pyspark.__file__).parent}/jars/*"
    libraries = ":".join(str(path) for path in jar_paths())
    compiler = ["java", "-cp", spark, "scala.tools.nsc.Main", "-usejavacp"]
    options = ["-cp", libraries, "-d", str(folder)]
    done = subprocess.run(
        [*compiler, *options, *map(str, files)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | QUICK,
    )
    assert done.returncode == 0, done.stdout


def java_stream(spark: SparkSession, folder: Path) -> Any:
    """Run the compiled program in the JVM of the session, and return its DataFrame."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(f"{folder}/").toURI().toURL()
    parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    block = jvm.java.net.URLClassLoader(urls, parent).loadClass("Block")
    arguments = gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = spark._jsparkSession
    (method,) = (each for each in block.getMethods() if each.getName() == "run")
    return method.invoke(None, arguments)
