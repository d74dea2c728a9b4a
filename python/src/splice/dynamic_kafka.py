# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of streams on many Kafka clusters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from splice._internal.jvm import register_metadata
from splice._internal.log_source import LogSource, LogSourceBuilder
from splice._internal.registry import starting
from splice.errors import OptionError
from splice.offsets import OffsetsArgument, offsets_of

_SELECTIONS = ("streams", "streamPattern")
_PYTHON = "metadata.python"
_CLASS = "metadata.class"
_SERVICES = ("metadata.file", "metadata.url", "kafka.bootstrap.servers", _PYTHON, _CLASS)

MetadataService = Callable[[], "Mapping[str, Any] | str"]


class DynamicKafkaSource(LogSource):
    """Source of streams on many Kafka clusters, which may change while the query runs.

    A metadata service maps each stream to clusters and topics. The source has the columns of a
    KafkaSource. The hidden columns ``_cluster`` and ``_stream`` contain the origin of a row.
    """

    kind = "dynamicKafka"

    def __init__(self, options: Mapping[str, str], service: MetadataService | None = None) -> None:
        """Create a source with checked options; use a builder instead."""
        super().__init__(options)
        self._service = service

    @property
    def _start_is_set(self) -> bool:
        """True if an option sets a start of all streams, one stream or one cluster."""
        return super()._start_is_set or any(
            name.lower().startswith(("stream.", "cluster."))
            and name.lower().endswith(tuple(f".{start.lower()}" for start in starting()))
            for name in self._options
        )

    def _prepare(self) -> None:
        service = self._service
        if service is not None:
            register_metadata(self._options[_PYTHON], lambda: _document(service))

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        """Return a builder without options."""
        return DynamicKafkaSourceBuilder()


class DynamicKafkaSourceBuilder(LogSourceBuilder[DynamicKafkaSource]):
    """Builder of a DynamicKafkaSource.

    The options of a KafkaSource apply to all clusters, except the options that select topics and
    brokers. ``cluster.<name>.<option>`` sets an option of one cluster.
    """

    def __init__(self) -> None:
        """Create a builder without options."""
        super().__init__()
        self._service: MetadataService | None = None

    def metadata_service(self, service: MetadataService) -> DynamicKafkaSourceBuilder:
        """Set a Python function of the driver's process as the metadata service.

        A separate thread calls the function every ``discoveryInterval``, never concurrently. If
        the function raises an exception, the query continues with the previous metadata. Spark
        Connect is not supported.

        Args:
            service: Function without arguments that returns the metadata document, as a
                dictionary or as YAML or JSON text.
        """
        if not callable(service):
            raise OptionError.of("SPLICE_BUILDER.INVALID_METADATA_SERVICE", value=repr(service))
        self._service = service
        return self.option(_PYTHON, f"{getattr(service, '__name__', 'service')}-{uuid4().hex[:8]}")

    def streams(self, *names: str) -> DynamicKafkaSourceBuilder:
        """Reads streams by name; instead of a pattern."""
        for name in names:
            if not isinstance(name, str) or not name.strip() or "," in name:
                raise OptionError.of("SPLICE_BUILDER.INVALID_STREAM_NAME", value=repr(name))
        return self.option("streams", ",".join(names))

    def stream_pattern(self, pattern: str) -> DynamicKafkaSourceBuilder:
        """Select all streams whose name contains a match of a Java regular expression.

        ``^`` and ``$`` anchor the pattern to the whole name. The selection includes streams that
        are added later.
        """
        return self.option("streamPattern", pattern)

    def metadata_file(self, path: str) -> DynamicKafkaSourceBuilder:
        """Set a YAML or JSON file on any file system of Hadoop as the metadata service."""
        return self.option("metadata.file", path)

    def metadata_url(self, url: str) -> DynamicKafkaSourceBuilder:
        """Set an HTTP endpoint, with or without ETags, as the metadata service.

        Plain HTTP to another machine needs the option ``metadata.allowPlainHttp``.
        """
        return self.option("metadata.url", url)

    def metadata_class(self, name: str, **options: str) -> DynamicKafkaSourceBuilder:
        """Set a class of the driver's JVM as the metadata service.

        Args:
            name: Class that implements ``splice.kafka.dynamic.KafkaMetadataService``, such as
                ``"com.example.Inventory"``. A jar on the class path of the driver must contain the
                class.
            options: Options of the class, which receives them as ``metadata.class.<name>``.
        """
        if not isinstance(name, str) or not name.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_CLASS_NAME", value=repr(name))
        return self.option(_CLASS, name).options({f"{_CLASS}.{k}": v for k, v in options.items()})

    def single_cluster(self, name: str, bootstrap_servers: str) -> DynamicKafkaSourceBuilder:
        """Use one cluster as metadata: each topic is a stream with the name of the topic."""
        return self.option("metadata.cluster", name).option(
            "kafka.bootstrap.servers", bootstrap_servers
        )

    def starting_offsets(
        self, start: OffsetsArgument, stream: str | None = None
    ) -> DynamicKafkaSourceBuilder:
        """Set the start on every cluster.

        The default is latest for a stream and earliest for a batch. A leg with a hand-over
        accepts no start.

        Args:
            start: ``"earliest"``, ``"latest"`` or an OffsetsInitializer.
            stream: Stream with this start. The default is all streams without a separate start.
        """
        if stream is None:
            return super().starting_offsets(start)
        if not isinstance(stream, str) or not stream.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_STREAM", value=repr(stream))
        options = offsets_of("starting_offsets", start)._starting_options()
        self._options.discard(*(f"stream.{stream}.{name}" for name in starting()))
        return self.options({f"stream.{stream}.{name}": v for name, v in options.items()})

    def _make(self) -> DynamicKafkaSource:
        self._reject_chain_options()
        self._exactly_one(
            _SELECTIONS, "dynamic Kafka source", "streams(...) or stream_pattern(...)"
        )
        if not self._options.named(*_SERVICES):
            raise OptionError.of("SPLICE_BUILDER.METADATA_SERVICE_NOT_SET")
        return DynamicKafkaSource(self._options, self._service)


def _document(service: MetadataService) -> str:
    found = service()
    return found if isinstance(found, str) else json.dumps(found)
