# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The expected rows, errors and progress of a query whose topics are removed."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demo import orders
from servers.waiting import wait_for
from soak.failure import assert_no_loss, failure
from soak.kafka import output as kafka_output
from soak.kafka.alignment import Batch, passed
from soak.kafka.output import Output
from soak.kafka.policies import PERMISSIVE, Loss, Policies, choose
from soak.kafka.topic_log import TopicLog
from soak.progress import stalls
from soak.starvation import Starvation, is_slow

STRICT = Policies()
DATA_LOSS, RECREATED = "SPLICE_KAFKA_DATA.DATA_LOSS", "SPLICE_KAFKA_DATA.TOPIC_RECREATED"


def _log() -> TopicLog:
    """Return a log with orders 0 to 4 in ``a`` and 5 to 9 in ``b``, each in two partitions."""
    log = TopicLog()
    for number, topic in enumerate("ab"):
        log.created(topic, f"id of {topic}", 0)
        log.wrote(topic, [(n % 2, n) for n in range(5 * number, 5 * number + 5)])
    return log


@pytest.mark.parametrize(
    ("policies", "permitted"),
    [
        (Policies(), set()),
        (Policies(loss="false"), {Loss.TRUNCATED, Loss.DELETED}),
        (Policies(loss="false", removed="fail"), {Loss.TRUNCATED}),
        (Policies(out_of_range="earliest"), {Loss.TRUNCATED}),
        (Policies(removed="drain", retention="7d"), {Loss.DELETED}),
        (Policies(loss="true", recreated="restart"), {Loss.RECREATED}),
        (PERMISSIVE, set(Loss)),
    ],
)
def test_policies_permit_losses(policies: Policies, permitted: set[Loss]) -> None:
    assert {loss for loss in Loss if policies.permit(loss)} == permitted


def test_policies_are_allowed_combinations_of_all_values() -> None:
    dice = random.Random(1)
    chosen = [choose(dice) for _ in range(1000)]
    for each in chosen:
        # Splice rejects only these pairs.
        assert (each.loss, each.out_of_range) not in {("true", "earliest"), ("false", "fail")}
    permitted = [frozenset(loss for loss in Loss if each.permit(loss)) for each in chosen]
    assert len(set(permitted)) == 8
    assert 0.4 < permitted.count(frozenset(Loss)) / len(chosen) < 0.8


def test_remedies_permit_the_failed_loss() -> None:
    dice = random.Random(2)
    for policies in [choose(dice) for _ in range(300)]:
        assert policies.remedied(RECREATED).permit(Loss.RECREATED)
        remedied = policies.remedied(DATA_LOSS)
        assert remedied.permit(Loss.DELETED)
        assert remedied.permit(Loss.TRUNCATED)
        assert remedied.permit(Loss.RECREATED) == policies.permit(Loss.RECREATED)


def test_orders_that_were_not_removed_are_due() -> None:
    log = _log()
    assert log.lost({0, 1, 2, 3, 4, 5, 7, 9}, log.counts()) == {6, 8}
    # Orders that were written since the start of the run are not required.
    assert log.lost(set(range(5)), {"id of a": 5}) == set()


def test_removed_orders_are_excused_once_a_policy_permits_that() -> None:
    log = _log()
    log.truncated("b", {1: 2}, life=1, due=True)
    # Orders 5 and 7 are the first two of partition 1.
    read = {0, 1, 2, 3, 4, 6, 8}
    assert log.lost(read, log.counts()) == {5, 7, 9}
    log.ran(Policies(removed="drop", recreated="restart"))
    assert log.lost(read, log.counts()) == {5, 7, 9}
    log.ran(Policies(out_of_range="earliest"))
    assert log.lost(read, log.counts()) == {9}
    log.deleted("b", life=2, due=True)
    assert log.lost(read, log.counts()) == {9}
    log.ran(Policies(loss="false"))
    assert log.lost(read, log.counts()) == set()


def test_orders_of_a_topic_that_the_query_never_had_are_excused() -> None:
    log = _log()
    log.deleted("b", life=0, due=False)
    assert log.lost(set(range(5)), log.counts()) == set()


def test_a_recreated_topic_is_excused_by_either_policy() -> None:
    for policies in (Policies(removed="drop"), Policies(recreated="restart")):
        log = _log()
        log.deleted("b", life=1, due=True)
        log.created("b", "another id", 1)
        log.wrote("b", [(0, 10)])
        log.ran(policies)
        # The rows of the new topic are required.
        assert log.lost(set(range(5)), log.counts()) == {10}


def test_a_run_may_fail_with_losses_that_its_policies_do_not_permit() -> None:
    log = _log()
    assert log.errors(STRICT, ()) == set()
    log.truncated("b", {0: 1}, life=1, due=True)
    assert log.errors(STRICT, ()) == {DATA_LOSS}
    assert log.errors(Policies(out_of_range="earliest"), ()) == set()
    log.ended(1)
    assert log.errors(STRICT, ()) == {DATA_LOSS}
    log.ended(2)
    assert log.errors(STRICT, ()) == set()


def test_a_missing_topic_may_fail_each_life_and_a_recreated_one_until_it_is_read() -> None:
    log = _log()
    log.deleted("b", life=1, due=True)
    log.ended(2)
    assert log.errors(STRICT, ()) == {DATA_LOSS}
    assert log.errors(PERMISSIVE, {"a", "b"}) == {"SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"}
    log.created("b", "another id", 3)
    assert log.errors(STRICT, {"a"}) == {DATA_LOSS, RECREATED}
    # The topic may have been missing at the start of the run.
    assert log.errors(PERMISSIVE, {"b"}) == {"SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"}
    assert log.errors(Policies(removed="drop"), ()) == {RECREATED}
    assert log.errors(Policies(recreated="restart"), ()) == {DATA_LOSS}
    assert log.errors(PERMISSIVE, ()) == set()
    log.ended(4)
    assert log.errors(STRICT, {"a", "b"}) == set()


def test_duplicated_foreign_and_altered_orders_are_found() -> None:
    log = _log()
    kafka_output.assert_exact(Output(Counter(range(10)), [], 0), log)
    for output, found in (
        (Output(Counter([1, 1, 2]), [], 0), r"duplicated: 1 orders, the first orders \[1\]"),
        (Output(Counter([1, 10]), [], 0), r"never written: 1 orders, the first orders \[10\]"),
        (Output(Counter([1]), [], 1), "1 rows with another amount"),
    ):
        with pytest.raises(AssertionError, match=found):
            kafka_output.assert_exact(output, log)


def test_missing_orders_are_found() -> None:
    log = _log()
    with pytest.raises(AssertionError, match=r"without 1 orders, the first orders \[3\]"):
        kafka_output.assert_complete(Output(Counter({*range(10)} - {3}), [], 0), log, log.counts())


def test_a_sink_is_read_with_the_times_of_its_files(tmp_path: Path) -> None:
    for batch, numbers in enumerate([[0, 1], [1]]):
        (tmp_path / str(batch)).mkdir()
        file = tmp_path / str(batch) / "part-0.parquet"
        amounts = [orders.amount(n) + batch for n in numbers]
        pq.write_table(
            pa.table({"order_id": [orders.order_id(n) for n in numbers], "amount": amounts}), file
        )
        os.utime(file, (100.0 + batch, 100.0 + batch))
    found = kafka_output.read(tmp_path, "batches")
    assert (found.times, found.altered) == (Counter({0: 1, 1: 2}), 1)
    assert found.progress({0, 1}) == [(100.0, 2), (101.0, 1)]
    assert found.progress({0}) == [(100.0, 1)]


PRODUCED = [(0.0, 10)]
READ = [(30.0, 4), (95.0, 6)]


def test_rows_that_wait_for_more_than_a_minute_are_a_stall() -> None:
    assert stalls(PRODUCED, READ, [(1.0, 100.0)], []) == [(30.0, 95.0)]
    assert stalls(PRODUCED, [(30.0, 4), (89.0, 6)], [(1.0, 100.0)], []) == []
    # The periods are before the first rows and after the last rows.
    assert stalls(PRODUCED, [], [(1.0, 62.0)], []) == [(1.0, 62.0)]
    assert stalls([(0.0, 11)], READ, [(1.0, 156.0)], []) == [(30.0, 95.0), (95.0, 156.0)]


def test_no_row_waits_without_rows_driver_or_brokers() -> None:
    assert stalls([(0.0, 4), (70.0, 6)], READ, [(1.0, 100.0)], []) == []
    assert stalls([(0.0, 4), (34.0, 6)], READ, [(1.0, 100.0)], []) == [(34.0, 95.0)]
    assert stalls(PRODUCED, READ, [(1.0, 50.0), (60.0, 100.0)], []) == []
    assert stalls(PRODUCED, READ, [(1.0, 100.0)], [(40.0, 44.0), (41.0, 46.0)]) == []
    assert stalls(PRODUCED, READ, [(1.0, 100.0)], [(0.0, 31.0), (95.0, 99.0)]) == [(30.0, 95.0)]


def test_a_batch_may_not_pass_an_order_that_was_readable() -> None:
    old, new = 0, 10_000
    first, second, third = Batch(100.0, []), Batch(101.0, [new]), Batch(102.0, [old])
    assert passed([first, second, third], lambda _: 0.0) == old
    # The order was not readable yet, or the first batch belongs to another run.
    assert passed([first, second, third], lambda number: 95.0 if number == old else 0.0) is None
    assert passed([second, third], lambda _: 0.0) is None
    assert passed([first, third, second], lambda _: 0.0) is None


def test_a_machine_is_starved_if_work_or_a_pause_takes_far_longer() -> None:
    assert not is_slow(pause=0.6, work=0.1)
    assert is_slow(pause=0.6, work=1.0)
    assert is_slow(pause=20.0, work=0.1)


def test_times_of_slow_measurements_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("soak.starvation._SLOW", 0)
    began = time.time()
    with Starvation() as starvation:
        spans = wait_for("a measurement", lambda: starvation.spans)
    assert began <= spans[0][0] < spans[0][1] <= time.time()


ERROR = (
    "WARN DataLoss: [SPLICE_KAFKA_DATA.DATA_LOSS] Required records no longer exist: orders-1-0 "
    "[0, 5).\n"
    "pyspark.errors.exceptions.captured.StreamingQueryException: [STREAM_FAILED] Query [id = 1] "
    "terminated with exception: [SPLICE_KAFKA_DATA.TOPIC_RECREATED] Kafka cannot be read. "
    "The topic orders-1.b0 was deleted. SQLSTATE: XXKST\n=== Streaming Query ===\n"
)


def test_the_error_of_a_query_is_found() -> None:
    assert failure(ERROR, "orders-1") == RECREATED
    with pytest.raises(AssertionError, match="of a healthy topic"):
        failure(ERROR.replace("topic ", "topic orders-1, "), "orders-1")
    with pytest.raises(AssertionError, match="no error of Splice"):
        failure(ERROR.replace("SPLICE_KAFKA", "KAFKA"), "orders-1")


def test_an_error_of_missing_rows_has_no_excuse() -> None:
    assert_no_loss("a log without an error [SPLICE_KAFKA_DATA.DATA_LOSS]")
    assert_no_loss(ERROR.replace("DATA.TOPIC_RECREATED", "CONNECTION.POLL_TIMEOUT"))
    for condition in ("SPLICE_KAFKA_DATA.TOPIC_RECREATED", "INTERNAL_ERROR"):
        log = ERROR.replace("SPLICE_KAFKA_DATA.TOPIC_RECREATED", condition)
        with pytest.raises(AssertionError, match=condition):
            assert_no_loss(log)
