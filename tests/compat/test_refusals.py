# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options that Spark's source rejects, and Splice too, in a stream or in a batch.

``rejected.json`` has the options, and the class of the error of Spark's source. The version of
Spark determines this class, so only another version needs a run of Spark's source. With
``REJECTED=check``, the tests run Spark's source too. With ``REJECTED=write``, they replace the
file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import IllegalArgumentException, PySparkException

from compat.pair import OURS, SPARKS, Pair, records
from refusals import lacks
from servers.kafka.cluster import KafkaCluster
from streams import drain

TABLE = Path(__file__).with_name("rejected.json")
KNOWN = json.loads(TABLE.read_text())
KINDS = ("streams", "batches")
MODE = os.environ.get("REJECTED")


@pytest.fixture(scope="module")
def topic(kafka: KafkaCluster) -> str:
    """Create a topic with three records, to which no test writes."""
    name = "refused-orders"
    kafka.topics.create(name)
    kafka.topics.produce(name, records(0, range(3)))
    return name


@pytest.mark.skipif(
    KNOWN["spark"] == pyspark.__version__ and not MODE, reason="the table is of this version"
)
def test_the_table_has_the_errors_of_sparks_source(pair: Pair, topic: str) -> None:
    found: dict[str, Any] = {"spark": pyspark.__version__} | {
        kind: [
            [type(_error(pair, SPARKS, topic, kind, number)).__name__, options]
            for number, (_, options) in enumerate(KNOWN[kind])
        ]
        for kind in KINDS
    }
    if MODE == "write":
        cases = (
            f'"{kind}": [\n' + ",\n".join(map(json.dumps, found[kind])) + "\n]" for kind in KINDS
        )
        TABLE.write_text(",\n".join([f'{{"spark": "{pyspark.__version__}"', *cases]) + "}\n")
    assert found == json.loads(TABLE.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_splice_rejects_the_options_of_the_table(pair: Pair, topic: str, kind: str) -> None:
    wrong = {}
    for number, (theirs, options) in enumerate(KNOWN[kind]):
        error = _error(pair, OURS, topic, kind, number)
        # Code that catches Spark's exception must also catch Splice's exception.
        caught = (
            IllegalArgumentException if theirs == "IllegalArgumentException" else PySparkException
        )
        if not isinstance(error, caught) or lacks(str(error), "SPLICE_"):
            wrong[str(options)] = f"{type(error).__name__}: {error}"
    assert not wrong


def test_a_schema_is_rejected(pair: Pair, topic: str) -> None:
    given = {"kafka.bootstrap.servers": pair.topics.bootstrap_servers, "subscribe": topic}
    with pytest.raises(PySparkException, match=r"(?i)schema"):
        pair.spark.read.format(OURS).schema("value STRING").options(**given).load().collect()


def _error(pair: Pair, side: str, topic: str, kind: str, number: int) -> Exception | None:
    """Read with options of the table, and return the error."""
    options = {
        name: value.replace("{topic}", topic) for name, value in KNOWN[kind][number][1].items()
    }
    try:
        if kind == "streams":
            drain(pair.stream(side, options), pair.folder / side / str(number))
        else:
            pair.batch(side, options).collect()
    except Exception as error:  # the kinds of the errors differ, and the tests compare them
        return error
    return None
