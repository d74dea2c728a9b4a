# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source of streams on many Kafka clusters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from splice._internal.jvm import register_metadata
from splice._internal.log_source import LogSource, LogSourceBuilder, brokers, listed
from splice._internal.registry import starting
from splice._internal.values import Names, OptionValue
from splice.errors import OptionError
from splice.offsets import OffsetsArgument, offsets_of

_SELECTIONS = ("streams", "streamPattern")
_PYTHON = "metadata.python"
_CLASS = "metadata.class"
_SERVICES = ("metadata.file", "metadata.url", "kafka.bootstrap.servers", _PYTHON, _CLASS)

_PLACES = ("cutovers", "starts", "stops")

MetadataService = Callable[[], "Mapping[str, Any] | str"]


class DynamicKafkaSource(LogSource):
    """Source of streams on many Kafka clusters, which may change while the query runs.

    A metadata service maps each stream to clusters and topics. The source has the columns of a
    KafkaSource. The hidden columns ``_cluster`` and ``_stream`` contain the origin of a row.

    Examples:
        >>> streams = (
        ...     DynamicKafkaSource.builder()
        ...     .metadata_file("/config/streams.yaml")
        ...     .streams("orders")
        ...     .build()
        ... )
        >>> streams.read(spark).select("_stream", "_cluster").distinct().collect()
        [Row(_stream='orders', _cluster='east')]
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

    Examples:
        >>> DynamicKafkaSource.builder().metadata_file("/config/streams.yaml").streams(["orders"])
        DynamicKafkaSourceBuilder(metadata.file='/config/streams.yaml', streams='orders')
    """

    def __init__(self) -> None:
        """Create a builder without options."""
        super().__init__()
        self._service: MetadataService | None = None

    def metadata_service(self, service: MetadataService) -> DynamicKafkaSourceBuilder:
        """Return a builder with a Python function of the driver's process as the metadata service.

        A separate thread calls the function every ``discoveryInterval``, never concurrently. If
        the function raises an exception, the query continues with the previous metadata until
        ``metadata.failureTimeout`` (1 hour), and then fails. The first start fails if the function
        raises an exception, or if the function does not return within ``clusterTimeout``. Spark
        Connect is not supported.

        Args:
            service: Function without arguments that returns the metadata document, as a
                dictionary or as YAML or JSON text.

        Examples:
            >>> def registry():
            ...     return {
            ...         "version": 1,
            ...         "clusters": {"east": {"bootstrapServers": "broker:9092"}},
            ...         "streams": {"orders": {"east": ["orders"]}},
            ...     }
            >>> builder = DynamicKafkaSource.builder().metadata_service(registry)
            >>> builder.streams("orders").build().read(spark).count()
            60
        """
        if not callable(service):
            raise OptionError.of("SPLICE_BUILDER.INVALID_METADATA_SERVICE", value=repr(service))
        name = f"{getattr(service, '__name__', 'service')}-{uuid4().hex[:8]}"
        changed = self.option(_PYTHON, name)
        changed._service = service
        return changed

    def streams(self, *names: Names) -> DynamicKafkaSourceBuilder:
        """Return a builder that reads streams by name.

        The names replace the streams and the pattern of earlier calls.

        Args:
            names: One or several names, as separate texts or as a list.

        Examples:
            >>> DynamicKafkaSource.builder().streams("sales", "returns")
            DynamicKafkaSourceBuilder(streams='sales,returns')
        """
        found = listed(names, _invalid_stream)
        return self._with({"streams": found}, without=_SELECTIONS)

    def stream_pattern(self, pattern: str) -> DynamicKafkaSourceBuilder:
        """Return a builder that selects streams by a Java regular expression.

        The source reads all streams whose name contains a match, including streams that are added
        later. ``^`` and ``$`` anchor the pattern to the whole name. The pattern replaces the
        streams and the pattern of earlier calls.

        Examples:
            >>> DynamicKafkaSource.builder().stream_pattern("^sales-.*")
            DynamicKafkaSourceBuilder(streamPattern='^sales-.*')
        """
        return self._with({"streamPattern": pattern}, without=_SELECTIONS)

    def metadata_file(self, path: str) -> DynamicKafkaSourceBuilder:
        """Return a builder with a YAML or JSON file as the metadata service.

        The file may be on any file system of Hadoop.

        Examples:
            >>> DynamicKafkaSource.builder().metadata_file("s3a://config/streams.yaml")
            DynamicKafkaSourceBuilder(metadata.file='s3a://config/streams.yaml')
        """
        return self.option("metadata.file", path)

    def metadata_url(self, url: str) -> DynamicKafkaSourceBuilder:
        """Return a builder with an HTTP endpoint, with or without ETags, as the metadata service.

        Plain HTTP to another machine needs the option ``metadata.allowPlainHttp``.

        Examples:
            >>> DynamicKafkaSource.builder().metadata_url("https://streams.example.com/v1")
            DynamicKafkaSourceBuilder(metadata.url='https://streams.example.com/v1')
        """
        return self.option("metadata.url", url)

    def metadata_class(self, name: str, **options: OptionValue) -> DynamicKafkaSourceBuilder:
        """Return a builder with a class of the driver's JVM as the metadata service.

        Args:
            name: Class that implements ``splice.kafka.dynamic.KafkaMetadataService``, such as
                ``"com.example.Inventory"``. A jar on the class path of the driver must contain the
                class.
            options: Options of the class, which receives them as ``metadata.class.<name>``.

        Examples:
            >>> DynamicKafkaSource.builder().metadata_class("com.example.Inventory", region="eu")
            DynamicKafkaSourceBuilder(metadata.class='com.example.Inventory', ...region='eu')
        """
        if not isinstance(name, str) or not name.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_CLASS_NAME", value=repr(name))
        return self.option(_CLASS, name).options({f"{_CLASS}.{k}": v for k, v in options.items()})

    def single_cluster(self, name: str, bootstrap_servers: Names) -> DynamicKafkaSourceBuilder:
        """Return a builder with one cluster as metadata: each topic is a stream of the same name.

        Args:
            name: Name of the cluster, the value of ``_cluster``.
            bootstrap_servers: One or several ``host:port``, as a list or as text with commas.

        Examples:
            >>> builder = DynamicKafkaSource.builder().single_cluster("east", "broker:9092")
            >>> builder.streams("orders").build().read(spark).count()
            60
        """
        servers = brokers((bootstrap_servers,))
        return self._with({"metadata.cluster": name, "kafka.bootstrap.servers": servers})

    def starting_offsets(
        self, start: OffsetsArgument, stream: str | None = None
    ) -> DynamicKafkaSourceBuilder:
        """Return a builder with a start on every cluster.

        The default is latest for a stream and earliest for a batch. A leg with a hand-over
        accepts no start.

        Args:
            start: ``"earliest"``, ``"latest"``, ``"committed"``, an OffsetsInitializer, or a time:
                a datetime with a time zone, or ISO 8601 text with a time zone.
            stream: Stream with this start. The default is all streams without a separate start.

        Examples:
            >>> builder = DynamicKafkaSource.builder().starting_offsets("earliest")
            >>> builder.starting_offsets("latest", stream="returns")
            DynamicKafkaSourceBuilder(startingOffsets='earliest', stream.returns...='latest')
        """
        if stream is None:
            return super().starting_offsets(start)
        if not isinstance(stream, str) or not stream.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_STREAM", value=repr(stream))
        options = offsets_of("starting_offsets", start)._starting_options()
        return self._with(
            {f"stream.{stream}.{name}": value for name, value in options.items()},
            without=[f"stream.{stream}.{name}" for name in starting()],
        )

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
    if isinstance(found, str):
        return found
    _check_names(found, "")
    return json.dumps(found)


def _check_names(value: object, path: str) -> None:
    """Raise an error for a name that is not text, such as a word that YAML reads as a boolean."""
    if isinstance(value, Mapping):
        # Offsets per partition have numbers as keys.
        kinds = (str, int) if path.partition(".")[0] in _PLACES else (str,)
        for name, part in value.items():
            if not isinstance(name, kinds) or isinstance(name, bool):
                raise _no_text("name", name, path)
            _check_names(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            if not isinstance(one, (str, Mapping)):
                raise _no_text("item", one, path)
            _check_names(one, path)
    elif value is not None and not isinstance(value, (str, bool, int, float)):
        raise _no_text("value", value, path)


def _no_text(role: str, value: object, path: str) -> ValueError:
    return ValueError(
        f"The metadata have the {role} {value!r} at '{path}', which is not text. YAML reads words "
        "such as no, dates and numbers as other types. Write the text in quotation marks."
    )


def _invalid_stream(name: object) -> OptionError:
    return OptionError.of("SPLICE_BUILDER.INVALID_STREAM_NAME", value=repr(name))
