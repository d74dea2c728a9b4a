# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Brokers from which the readers of a topic have fetched, by the metrics of their consumers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pyspark.sql import SparkSession

_PARTITIONS = "kafka.consumer:type=consumer-fetch-manager-metrics,topic={},partition=*,client-id=*"
_NODES = "kafka.consumer:type=consumer-node-metrics,client-id={},node-id=*"


class Fetched:
    """Consumers in this process that read a topic. Readers stay open after a batch."""

    def __init__(self, spark: SparkSession, topic: str) -> None:
        """Create an instance with a session in local mode, whose driver reads."""
        self._beans = _Beans(spark)
        self._partitions = self._beans.named(_PARTITIONS.format(topic))

    def preferred(self) -> set[int]:
        """Return the preferred replicas of consumers; -1 for consumers that read from leaders."""
        return {int(self._beans.get(b, "preferred-read-replica")) for b in self._partitions}

    def partitions(self) -> int:
        """Return the number of partitions that open consumers read."""
        return len(self._partitions)

    def bytes_of(self) -> Counter[int]:
        """Return the bytes received from each broker, including responses to other requests."""
        came: Counter[int] = Counter()
        for client in {bean.getKeyProperty("client-id") for bean in self._partitions}:
            for node in self._beans.named(_NODES.format(client)):
                number = int(node.getKeyProperty("node-id").removeprefix("node-"))
                came[number] += int(self._beans.get(node, "incoming-byte-total"))
        return came


class _Beans:
    """Java's managed beans by reflection, because their module does not export the server class."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._gateway: Any = spark.sparkContext._gateway
        management = self._jvm.java.lang.management
        self._server = management.ManagementFactory.getPlatformMBeanServer()

    def named(self, pattern: str) -> list[Any]:
        name = self._jvm.javax.management.ObjectName(pattern)
        return list(self._call("queryNames", {"ObjectName": name, "QueryExp": name}))

    def get(self, bean: Any, attribute: str) -> Any:
        return self._call("getAttribute", {"ObjectName": bean, "java.lang.String": attribute})

    def _call(self, method: str, arguments: dict[str, Any]) -> Any:
        kinds = [self._class(name) for name in arguments]
        found = self._class("MBeanServer").getMethod(method, self._array("Class", kinds))
        return found.invoke(self._server, self._array("Object", list(arguments.values())))

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Class.forName(
            name if "." in name else f"javax.management.{name}"
        )

    def _array(self, kind: str, items: list[Any]) -> Any:
        array = self._gateway.new_array(getattr(self._jvm.java.lang, kind), len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array
