# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the code of the page to get started, in Python and in Scala."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orders import assert_each_once, ids
from pages.page import Page
from pages.scala import compile_scala
from servers.kafka.topics import KafkaTopics
from streams import drain, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PAGE = Page("docs/getting-started.md")


def test_each_program(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    shown = {
        "/lake/orders/": str(history_path),
        "broker:9092": topics.bootstrap_servers,
        '"orders"': f'"{topic}"',
    }
    session, options, *_ = PAGE.blocks("python")
    names: dict[str, Any] = PAGE.run(session, {'appName("orders")': 'appName("splice-tests")'}, {})
    assert names["spark"] == spark
    assert PAGE.run(options, shown, names)["df"].isStreaming

    stream = PAGE.run(PAGE.section("options"), shown, names)["df"]
    drain(stream, tmp_path / "options")
    assert_each_once(ids(written(spark, tmp_path / "options")), range(60))

    statements = re.sub(r"--.*", "", PAGE.replaced(PAGE.section("sql"), in_sql(shown))).split(";")
    try:
        _, count, stream = [spark.sql(text) for text in statements if text.strip()]
        assert count.collect()[0][0] == 60
        drain(stream, tmp_path / "sql")
    finally:
        spark.sql("DROP TABLE IF EXISTS orders")
    assert_each_once(ids(written(spark, tmp_path / "sql")), range(60))

    (program,) = PAGE.blocks("scala")
    imports = re.findall(r"^import .*\n", program, re.MULTILINE)
    code = re.sub(r"^import .*\n", "", PAGE.replaced(program, shown), flags=re.MULTILINE)
    compile_scala(
        f"{''.join(imports)}\nobject Block {{\n"
        f"  def run(spark: org.apache.spark.sql.SparkSession) = {{\n{code}\n    df\n  }}\n}}\n",
        tmp_path,
    )
    assert java_stream(spark, tmp_path).schema().fieldNames()[0] == "order_id"
    PAGE.assert_all_executed()


def in_sql(shown: dict[str, str]) -> dict[str, str]:
    """Return addresses and paths, with the quotes of SQL."""
    return {name.replace('"', "'"): real.replace('"', "'") for name, real in shown.items()}


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
