# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of Kafka topics."""

from __future__ import annotations

from splice.errors import OptionError
from splice.log_source import LogSource, LogSourceBuilder
from splice.offsets import OffsetsArgument

_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")


class KafkaSource(LogSource):
    """Source of Kafka topics, with the columns of Spark's Kafka source."""

    kind = "kafka"

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder without options."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(LogSourceBuilder[KafkaSource]):
    """Builder of a KafkaSource. Options have the names of Spark's Kafka source.

    Set a property of the Kafka client with ``option("kafka.<property>", value)``.
    """

    def bootstrap_servers(self, servers: str) -> KafkaSourceBuilder:
        """Set the bootstrap brokers, as ``host:port,host:port``."""
        return self.option(_SERVERS, servers)

    def topics(self, *topics: str) -> KafkaSourceBuilder:
        """Subscribe to topics by name, instead of a pattern."""
        for topic in topics:
            if not isinstance(topic, str) or not topic.strip() or "," in topic:
                raise OptionError(
                    f"{topic!r} is not a valid topic name. Pass each topic as a separate string: "
                    "topics('a', 'b')."
                )
        return self.option("subscribe", ",".join(topics))

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Subscribe to all topics whose name contains a match of a Java regular expression.

        ``^`` and ``$`` bind the pattern to the whole name.
        """
        return self.option("subscribePattern", pattern)

    def ending_offsets(self, end: OffsetsArgument) -> KafkaSourceBuilder:
        """Set the end, so that the source is bounded. By default a source has no end.

        Args:
            end: ``"latest"`` or an OffsetsInitializer other than earliest and committed.
        """
        return self._ending("ending_offsets", end)

    def commit_to_group(self, group: str) -> KafkaSourceBuilder:
        """Commit the offsets of committed batches to a consumer group, for tools that show lag.

        The committed offsets are never ahead of the checkpoint. The query does not begin at these
        offsets unless its start is ``OffsetsInitializer.committed()``.

        Args:
            group: Id of the group, the option ``kafka.group.id``.
        """
        if not isinstance(group, str) or not group.strip():
            raise OptionError(
                f"{group!r} is not a valid id of a consumer group. Set an id, for example "
                "commit_to_group('orders-report')."
            )
        return self.option("kafka.group.id", group).option("commitToGroup", True)

    def _make(self) -> KafkaSource:
        self._refuse_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError(
                f"Option '{_SERVERS}' is missing. Set the brokers with "
                "bootstrap_servers('host:port')."
            )
        self._exactly_one(
            _SUBSCRIPTIONS,
            "Kafka source",
            "topics(...), topic_pattern(...) or option('assign', json)",
        )
        return KafkaSource(self._options)
