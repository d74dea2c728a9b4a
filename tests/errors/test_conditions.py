# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each error condition is provoked by a query or a builder, and each option is used by a test."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from errors.conditions import elsewhere
from errors.conditions.catalogue import conditions, tests_of_options
from errors.conditions.world import CASES, World, provoked
from servers.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conftest import MakeTopic

for _name in (
    "builders",
    "options",
    "files",
    "hand_overs",
    "kafka",
    "checkpoints",
    "clusters",
    "setup",
):
    importlib.import_module(f"errors.conditions.of_{_name}")


@pytest.mark.parametrize("condition", sorted(CASES))
def test_condition(
    spark: SparkSession, kafka: KafkaCluster, make_topic: MakeTopic, tmp_path: Path, condition: str
) -> None:
    world = World(spark, kafka, make_topic, tmp_path)
    assert provoked(CASES[condition], world) == condition


def test_each_condition_has_one_test() -> None:
    assert sorted([*CASES, *elsewhere.TESTS]) == sorted(conditions())


@pytest.mark.parametrize("condition", sorted(elsewhere.TESTS))
def test_other_tests_exist_and_name_the_condition(condition: str) -> None:
    assert elsewhere.names(condition)


def test_each_option_is_set_by_a_test() -> None:
    assert [option for option, files in tests_of_options().items() if not files] == []
