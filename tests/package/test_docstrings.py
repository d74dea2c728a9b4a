# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execute the examples in the docstrings of the Python package, with other addresses and paths."""

from __future__ import annotations

import doctest
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import splice
from conftest import MakeTopic
from orders import archive, orders
from servers.kafka.topics import KafkaTopics

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstrings(name: str) -> list[doctest.DocTest]:
    """Return the docstrings with examples of a public name and of its public methods."""
    value = getattr(splice, name)
    found = {name: inspect.getdoc(value) or ""}
    if inspect.isclass(value):
        for member, of in inspect.getmembers(value):
            if not member.startswith("_") and (callable(of) or isinstance(of, property)):
                found[f"{name}.{member}"] = inspect.getdoc(of) or ""
    parsed = [_parsed(title, text) for title, text in found.items()]
    return [one for one in parsed if one.examples]


def _parsed(title: str, text: str) -> doctest.DocTest:
    return doctest.DocTestParser().get_doctest(text, {}, title, title, 0)


class Places(doctest.OutputChecker):
    """Addresses and paths of the examples, and the real ones."""

    def __init__(self, folder: Path, servers: str, topic: str) -> None:
        """Create the places with a folder, a broker and a topic."""
        roots = ("/lake", "/checkpoints", "/config")
        self._real = {f'"{root}': f'"{folder}{root}' for root in roots}
        self._real |= {"broker:9092": servers, '"orders"': f'"{topic}"'}
        self._shown = {str(folder): "", servers: "broker:9092", topic: "orders"}

    def real(self, code: str) -> str:
        """Return the code of an example with real places."""
        for shown, real in self._real.items():
            code = code.replace(shown, real)
        return code

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Compare an output after replacement of the real places."""
        for real, shown in self._shown.items():
            got = got.replace(real, shown)
        return super().check_output(want, got, optionflags)


@pytest.fixture
def places(
    spark: SparkSession, topics: KafkaTopics, topic: str, make_topic: MakeTopic, tmp_path: Path
) -> Iterator[Places]:
    """The archive, the topic and the metadata documents of the examples."""
    archive(topics, topic, tmp_path / "lake" / "orders", {0: 10, 1: 10, 2: 10})
    mirror = make_topic()
    topics.produce(mirror, orders(range(55), 3))
    (tmp_path / "config").mkdir()
    cluster = {"bootstrapServers": topics.bootstrap_servers}
    for name, streams in (
        ("streams", {"east": [topic]}),
        ("mirror", {"east": [topic], "west": [mirror]}),
    ):
        document = {
            "version": 1,
            "clusters": dict.fromkeys(streams, cluster),
            "streams": {topic: streams},
        }
        (tmp_path / "config" / f"{name}.yaml").write_text(json.dumps(document))
    yield Places(tmp_path, topics.bootstrap_servers, topic)
    for query in spark.streams.active:
        query.stop()


def test_each_public_name_has_an_example() -> None:
    own = {one.name for name in splice.__all__ for one in docstrings(name)}
    assert set(splice.__all__) - own == set()


def test_each_example(spark: SparkSession, places: Places) -> None:
    names: dict[str, Any] = {name: getattr(splice, name) for name in splice.__all__}
    names["spark"] = spark
    failures: list[str] = []
    package = _parsed("splice", splice.__doc__ or "")
    assert package.examples
    done: set[str] = set()
    for one in (package, *(each for name in splice.__all__ for each in docstrings(name))):
        text = one.docstring or ""
        if text in done:  # A method of a base class.
            continue
        done.add(text)
        one.globs = names if one is package else dict(names)
        for example in one.examples:
            example.source = places.real(example.source)
        runner = doctest.DocTestRunner(places, verbose=False, optionflags=OPTIONS)
        runner.run(one, out=failures.append, clear_globs=False)
    assert not failures, "\n".join(failures)
    assert len(done) > 50
