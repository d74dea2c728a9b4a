# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka as a source, unbounded or bounded."""

from __future__ import annotations

from splice.errors import OptionError
from splice.offsets import ENDING, STARTING, OffsetsArgument, offsets_of
from splice.source import Source, SourceBuilder

_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")


class KafkaSource(Source):
    """The records of Kafka topics, with the columns of Spark's own Kafka source."""

    kind = "kafka"

    @property
    def bounded(self) -> bool:
        """Whether an end was set."""
        return bool(self._options.named(*ENDING))

    @property
    def start_is_set(self) -> bool:
        """Whether a start was set, rather than left at its default or to a hand-over."""
        return bool(self._options.named(*STARTING))

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Begins a source of Kafka topics."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(SourceBuilder[KafkaSource]):
    """Builds a KafkaSource; options and their names are those of Spark's own Kafka source.

    Any setting of the Kafka client goes through as ``option("kafka.<setting>", value)``.
    """

    def bootstrap_servers(self, servers: str) -> KafkaSourceBuilder:
        """Sets the brokers to begin with, as ``host:port,host:port``."""
        return self.option(_SERVERS, servers)

    def topics(self, *topics: str) -> KafkaSourceBuilder:
        """Subscribes to topics by name; instead of a pattern."""
        for topic in topics:
            if not isinstance(topic, str) or not topic.strip() or "," in topic:
                raise OptionError(
                    f"{topic!r} is no name of a topic. Give each topic as a string of its own: "
                    "topics('a', 'b')."
                )
        return self.option("subscribe", ",".join(topics))

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Subscribes to all topics whose name holds a match of a Java regular expression.

        ``^`` and ``$`` bind it to the whole name.
        """
        return self.option("subscribePattern", pattern)

    def starting_offsets(self, start: OffsetsArgument) -> KafkaSourceBuilder:
        """Fixes the start; by default a stream starts at the latest records, a batch earliest.

        A leg that starts by a hand-over takes no start.

        Args:
            start: ``"earliest"``, ``"latest"`` or an OffsetsInitializer.
        """
        options = offsets_of("starting_offsets", start).starting_options()
        self._options.discard(*STARTING)
        return self.options(**options)

    def ending_offsets(self, end: OffsetsArgument) -> KafkaSourceBuilder:
        """Fixes the end, which makes the source bounded; by default there is none.

        Args:
            end: ``"latest"`` or an OffsetsInitializer other than earliest and committed.
        """
        options = offsets_of("ending_offsets", end).ending_options()
        self._options.discard(*ENDING)
        return self.options(**options)

    def commit_to_group(self, group: str) -> KafkaSourceBuilder:
        """Commits to a consumer group what Spark has committed, for tools that show lag.

        It never goes ahead of the checkpoint, and the query does not begin there unless
        its start is ``OffsetsInitializer.committed()``.

        Args:
            group: the id of the group, the option ``kafka.group.id``.
        """
        if not isinstance(group, str) or not group.strip():
            raise OptionError(
                f"{group!r} is no consumer group. Give its id: commit_to_group('orders-report')."
            )
        return self.option("kafka.group.id", group).option("commitToGroup", True)

    def _make(self) -> KafkaSource:
        self._refuse_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError(
                f"Option '{_SERVERS}' is missing, so no broker can be found. "
                "Give it with bootstrap_servers('host:port')."
            )
        given = self._options.named(*_SUBSCRIPTIONS)
        if len(given) != 1 or not self._options[given[0]].strip():
            said = ", ".join(f"'{name}'" for name in given) or "none"
            raise OptionError(
                f"A Kafka source needs exactly one of {', '.join(_SUBSCRIPTIONS)}, not empty; set "
                f"here: {said}. Use topics(...), topic_pattern(...) or option('assign', json)."
            )
        return KafkaSource(self._options)
