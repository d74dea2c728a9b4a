# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Class path of a driver, and an archive of its classes.

The jars are on the class path, not in ``spark.jars``. Spark copies ``spark.jars`` for each driver,
and an archive contains only classes of the class path.
"""

from __future__ import annotations

import functools
import os
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

import pyspark

from kill import killing
from servers import class_data
from servers.kafka import spark_jars
from splice._internal.jars import jar_paths
from tables import formats

DRIVER = "spark.driver.defaultJavaOptions"
EXECUTOR = "spark.executor.defaultJavaOptions"
"""Settings with the options of the archive."""


def conf() -> Mapping[str, str]:
    """Return the settings of a driver that has all classes on its class path."""
    path = os.pathsep.join(map(str, _added()))
    return {"spark.driver.extraClassPath": path, "spark.executor.extraClassPath": path}


@functools.cache
def archived() -> Mapping[str, str]:
    """Return the settings that let drivers and executors load the classes from an archive."""
    sparks = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    name = f"driver-{pyspark.__version__}"
    options = " ".join(class_data.options(name, [*_added(), *sparks], _train))
    return {DRIVER: options, EXECUTOR: options}


@functools.cache
def _added() -> list[Path]:
    sparks_kafka = spark_jars.jars() if spark_jars.FIT else []
    return [killing.jar(), *jar_paths(), *map(Path, [*sparks_kafka, *formats.jars()])]


def _train(option: str) -> None:
    # Scenarios need this module. Most processes have the archive already, and need no scenario.
    from kill.scenario import Scenario
    from servers.kafka.cluster import KafkaCluster

    with (
        tempfile.TemporaryDirectory(prefix="splice-class-data-") as folder,
        KafkaCluster() as kafka,
    ):
        topic = f"orders-{uuid.uuid4().hex[:8]}"
        scenario = Scenario.make(kafka.topics, topic, Path(folder), rows=300)
        scenario.given(conf={DRIVER: option})
        life = scenario.start()
        # The JVM writes the archive before it exits.
        code = life.process.wait(600)
        assert code == 0, life.process.tail(80)
