# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Streams that lie on many Kafka clusters, as a source."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from splice.errors import OptionError
from splice.jvm import register_metadata
from splice.log_source import LogSource, LogSourceBuilder
from splice.offsets import OffsetsArgument, offsets_of
from splice.registry import STARTING

_SELECTIONS = ("streams", "streamPattern")
_PYTHON = "metadata.python"
_CLASS = "metadata.class"
_SERVICES = ("metadata.file", "metadata.url", "kafka.bootstrap.servers", _PYTHON, _CLASS)

MetadataService = Callable[[], "Mapping[str, Any] | str"]


class DynamicKafkaSource(LogSource):
    """The records of streams on many Kafka clusters, which come and go while the query runs.

    A metadata service says on which clusters and topics each stream lies. The columns are those of
    a KafkaSource; the hidden columns ``_cluster`` and ``_stream`` say where a row comes from.
    """

    kind = "dynamicKafka"

    def __init__(self, options: Mapping[str, str], service: MetadataService | None = None) -> None:
        """Takes checked options; use a builder instead."""
        super().__init__(options)
        self._service = service

    @property
    def _start_is_set(self) -> bool:
        """Whether a start was set, of all streams or of one, on all clusters or on one."""
        return super()._start_is_set or any(
            name.lower().startswith(("stream.", "cluster."))
            and name.lower().endswith(tuple(f".{start.lower()}" for start in STARTING))
            for name in self._options
        )

    def _prepare(self) -> None:
        service = self._service
        if service is not None:
            register_metadata(self._options[_PYTHON], lambda: _document(service))

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        """Begins a source of streams on many clusters."""
        return DynamicKafkaSourceBuilder()


class DynamicKafkaSourceBuilder(LogSourceBuilder[DynamicKafkaSource]):
    """Builds a DynamicKafkaSource.

    Every option of a KafkaSource but those that say which topics of which cluster holds for all
    clusters; ``cluster.<name>.<option>`` holds for one of them.
    """

    def __init__(self) -> None:
        """Starts without options."""
        super().__init__()
        self._service: MetadataService | None = None

    def metadata_service(self, service: MetadataService) -> DynamicKafkaSourceBuilder:
        """Takes the metadata from a Python function of the driver's process.

        It is called every ``discoveryInterval`` from a thread of its own, once at a time. An
        exception is no answer: the query goes on with the last one. Not with Spark Connect.

        Args:
            service: a function without arguments that gives the metadata document, as a
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
        """Reads all streams whose name holds a match of a Java regular expression.

        ``^`` and ``$`` bind it to the whole name. Streams that are made later are read too.
        """
        return self.option("streamPattern", pattern)

    def metadata_file(self, path: str) -> DynamicKafkaSourceBuilder:
        """Takes the metadata from a YAML or JSON file on any file system that Hadoop reaches."""
        return self.option("metadata.file", path)

    def metadata_url(self, url: str) -> DynamicKafkaSourceBuilder:
        """Takes the metadata from an HTTP endpoint, whose ETag is honoured.

        Plain HTTP to another machine needs the option ``metadata.allowPlainHttp``.
        """
        return self.option("metadata.url", url)

    def metadata_class(self, name: str, **options: str) -> DynamicKafkaSourceBuilder:
        """Sets the class of the driver's JVM that returns the metadata.

        Args:
            name: a class that implements ``splice.kafka.dynamic.KafkaMetadataService``, such as
                ``"com.example.Inventory"``, in a jar on the class path of the driver.
            options: options of the class, which receives them as ``metadata.class.<name>``.
        """
        if not isinstance(name, str) or not name.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_CLASS_NAME", value=repr(name))
        return self.option(_CLASS, name).options({f"{_CLASS}.{k}": v for k, v in options.items()})

    def single_cluster(self, name: str, bootstrap_servers: str) -> DynamicKafkaSourceBuilder:
        """Takes every topic of one cluster for a stream of its own name."""
        return self.option("metadata.cluster", name).option(
            "kafka.bootstrap.servers", bootstrap_servers
        )

    def starting_offsets(
        self, start: OffsetsArgument, stream: str | None = None
    ) -> DynamicKafkaSourceBuilder:
        """Fixes the start on every cluster; by default a stream starts at the latest records.

        A batch starts at the earliest. A leg that starts by a hand-over takes no start.

        Args:
            start: ``"earliest"``, ``"latest"`` or an OffsetsInitializer.
            stream: the one that starts there; by default all that nothing else is said of.
        """
        if stream is None:
            return super().starting_offsets(start)
        if not isinstance(stream, str) or not stream.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_STREAM", value=repr(stream))
        options = offsets_of("starting_offsets", start)._starting_options()
        self._options.discard(*(f"stream.{stream}.{name}" for name in STARTING))
        return self.options({f"stream.{stream}.{name}": v for name, v in options.items()})

    def _make(self) -> DynamicKafkaSource:
        self._refuse_chain_options()
        self._exactly_one(
            _SELECTIONS, "dynamic Kafka source", "streams(...) or stream_pattern(...)"
        )
        if not self._options.named(*_SERVICES):
            raise OptionError.of("SPLICE_BUILDER.METADATA_SERVICE_NOT_SET")
        return DynamicKafkaSource(self._options, self._service)


def _document(service: MetadataService) -> str:
    found = service()
    return found if isinstance(found, str) else json.dumps(found)
