# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of Kafka topics."""

from __future__ import annotations

from splice._internal.log_source import LogSource, LogSourceBuilder, brokers, listed
from splice._internal.values import Names
from splice.errors import OptionError

_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")


class KafkaSource(LogSource):
    """Source of Kafka topics, with the columns of Spark's Kafka source.

    Examples:
        >>> source = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders").build()
        >>> source.read(spark).columns
        ['key', 'value', 'topic', 'partition', 'offset', 'timestamp', 'timestampType']
    """

    kind = "kafka"

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder without options."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(LogSourceBuilder[KafkaSource]):
    """Builder of a KafkaSource. Options have the same names as in Spark's Kafka source.

    Set a property of the Kafka client with ``option("kafka.<property>", value)``.

    Examples:
        >>> base = KafkaSource.builder().bootstrap_servers("broker:9092")
        >>> late = base.topics("orders").starting_offsets("2026-01-01T00:00:30Z")
        >>> late.build().read(spark).count()
        30
        >>> base
        KafkaSourceBuilder(kafka.bootstrap.servers='broker:9092')
    """

    def bootstrap_servers(self, *servers: Names) -> KafkaSourceBuilder:
        """Return a builder with bootstrap brokers.

        Args:
            servers: One or several ``host:port``, as separate texts, as a list, or as one text
                with commas.

        Examples:
            >>> KafkaSource.builder().bootstrap_servers(["b1:9092", "b2:9092"])
            KafkaSourceBuilder(kafka.bootstrap.servers='b1:9092,b2:9092')
        """
        return self.option(_SERVERS, brokers(servers))

    def topics(self, *topics: Names) -> KafkaSourceBuilder:
        """Return a builder that subscribes to topics by name.

        The names replace the topics, the pattern and the assignment of earlier calls.

        Args:
            topics: One or several names, as separate texts or as a list.

        Examples:
            >>> KafkaSource.builder().topics(["sales", "returns"])
            KafkaSourceBuilder(subscribe='sales,returns')
        """
        names = listed(topics, _invalid_topic)
        return self._with({"subscribe": names}, without=_SUBSCRIPTIONS)

    def topic_pattern(self, pattern: str) -> KafkaSourceBuilder:
        """Return a builder that subscribes to topics by a Java regular expression.

        The source reads all topics whose name contains a match. ``^`` and ``$`` anchor the pattern
        to the whole name. The pattern replaces the topics, the pattern and the assignment of
        earlier calls.

        Examples:
            >>> KafkaSource.builder().topic_pattern("^sales-.*")
            KafkaSourceBuilder(subscribePattern='^sales-.*')
        """
        return self._with({"subscribePattern": pattern}, without=_SUBSCRIPTIONS)

    def _make(self) -> KafkaSource:
        self._reject_chain_options()
        if not self._options.get(_SERVERS, "").strip():
            raise OptionError.of("SPLICE_BUILDER.SERVERS_NOT_SET", option=_SERVERS)
        self._exactly_one(
            _SUBSCRIPTIONS,
            "Kafka source",
            "topics(...), topic_pattern(...) or option('assign', json)",
        )
        return KafkaSource(self._options)


def _invalid_topic(name: object) -> OptionError:
    return OptionError.of("SPLICE_BUILDER.INVALID_TOPIC_NAME", value=repr(name))
