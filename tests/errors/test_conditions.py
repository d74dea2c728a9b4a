# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each error condition is provoked by a query or a program, and each option is used by a test.

The unit tests of the Python package provoke the conditions of the builders.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from conftest import MakeTopic
from errors.conditions import elsewhere
from errors.conditions.catalogue import conditions, tests_of_options
from errors.conditions.of_options import COLUMNS, REJECTED, two_legs
from errors.conditions.world import CASES, Case, World
from errors.test_switch_errors import REMEDIES
from programs.launch import run
from refusals import assert_says, lacks
from servers.kafka.cluster import KafkaCluster

for _name in ("files", "streams", "hand_overs", "kafka", "checkpoints", "clusters", "tables"):
    importlib.import_module(f"errors.conditions.of_{_name}")

SETUP = (
    "BUILDER_NOT_SUPPORTED",
    "CALLBACK_NOT_SUPPORTED",
    "CLASSIC_SESSION_NOT_FOUND",
    "CONNECT_NOT_SUPPORTED",
    "DUPLICATE_JARS_SETTING",
    "FORMAT_NOT_FOUND",
    "JARS_REPLACED",
    "JAR_FOLDER_NOT_SET",
    "JAR_NOT_FOUND",
    "JAR_NOT_LOADED",
    "JAR_VERSION_CONFLICT",
    "PANDAS_NOT_FOUND",
    "SESSION_NOT_FOUND",
)
"""Conditions of a process without Splice's jars, which a program provokes."""


@pytest.fixture
def world(
    spark: SparkSession,
    kafka: KafkaCluster,
    make_topic: MakeTopic,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> World:
    """The world of one case."""
    return World(spark, kafka, lambda: request.getfixturevalue("other_kafka"), make_topic, tmp_path)


@pytest.mark.parametrize("condition", sorted(CASES))
def test_condition(world: World, condition: str) -> None:
    case = CASES[condition]
    assert_says(case.error(world), *case.patterns)


def test_options_are_rejected_by_name_when_a_stream_is_loaded(spark: SparkSession) -> None:
    def accepted(options: dict[str, str], patterns: list[str]) -> str | None:
        try:
            spark.readStream.format("splice").options(**options).load()
        except IllegalArgumentException as error:
            found = error.getCondition() or "no condition"
            return lacks(f"{found}: {error}", "^SPLICE_", *patterns)
        return "no error"

    wrong = {str(options): accepted(options, patterns) for options, patterns in REJECTED}
    assert not any(wrong.values()), {key: text for key, text in wrong.items() if text}


def test_columns_of_legs_that_do_not_fit(world: World) -> None:
    path = world.parquet("rows", "id;CAST(id AS STRING) AS name")

    def accepted(condition: str) -> str | None:
        case = Case(lambda world: two_legs(world, path, *COLUMNS[condition]), ())
        return lacks(case.error(world), rf"\[{condition}\]", "'(first|next)")

    wrong = {condition: accepted(condition) for condition in COLUMNS}
    assert not any(wrong.values()), {key: text for key, text in wrong.items() if text}


def test_each_condition_of_a_process_without_the_jars(tmp_path: Path) -> None:
    own = ("SPARK_HOME", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")
    without = [argument for name in own for argument in ("-u", name)]
    output = run(["env", *without, sys.executable], "setup_errors", str(tmp_path))
    found = re.findall(r"^(\w+): .*\[SPLICE_SETUP\.\1\]", output, re.MULTILINE)
    assert sorted(found) == sorted(SETUP), output


def test_each_condition_has_one_test() -> None:
    at_load = {p for _, patterns in REJECTED for p in patterns if p.startswith("SPLICE_")}
    of_setup = [f"SPLICE_SETUP.{name}" for name in SETUP]
    of_switch = {remedy.condition for remedy in REMEDIES.values()}
    tested = [*CASES, *COLUMNS, *at_load, *of_setup, *of_switch, *elsewhere.TESTS]
    assert sorted(tested) == [
        name for name in sorted(conditions()) if not name.startswith("SPLICE_BUILDER.")
    ]


def test_other_tests_exist_and_name_the_condition() -> None:
    assert [condition for condition in elsewhere.TESTS if not elsewhere.names(condition)] == []


def test_each_option_is_set_by_a_test() -> None:
    assert [option for option, files in tests_of_options().items() if not files] == []
