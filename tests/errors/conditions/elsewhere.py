# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Conditions that another test provokes, because the fault needs more than a broker and files.

Each of these tests runs a query, with four exceptions. A metadata service that is a class of the
user, and a table of Delta, need a class or a jar on the class path of the driver. Late files need a
folder with more than 1,000,000 files, and merged segments need many runs.
"""

from __future__ import annotations

from errors.conditions.catalogue import ROOT

_LIVE = "jvm/spark/src/test/scala/splice/spark/realtime"
_METADATA = "jvm/dynamic-kafka/src/test/scala/splice/kafka/dynamic/internal/metadata"
_COUNTS = "jvm/spark/src/test/scala/splice/spark/chain/CountedHistorySuite.scala"
_SECURITY = "tests/sources/test_security.py"
_TABLES = "jvm/tables/src/test/scala/splice/tables/internal/errors/TableErrorsSuite.scala"
_DELTA = "jvm/tables/src/test/scala/splice/tables/DeltaTableSuite.scala"
_WRITER = "jvm/hybrid/src/test/scala/splice/hybrid/internal/handover/WriterHandOverSuite.scala"
_DECISION = "jvm/hybrid/src/test/scala/splice/hybrid/internal/handover/HandOverDecisionSuite.scala"
_OPEN = "jvm/dynamic-kafka/src/test/scala/splice/kafka/dynamic/internal/enumerator/open"
_WATCHER = "jvm/files/src/test/scala/splice/files/internal/watch/WatcherSuite.scala"
_LISTER = "jvm/files/src/test/scala/splice/files/internal/watch/HadoopListerSuite.scala"
_WATCHED = "jvm/files/src/test/scala/splice/files/internal/enumerator/WatchedFolderSuite.scala"
_LIMITS = "limits of batches that the user sets, and sources without"
_CHECKPOINTS = "tests/errors/test_checkpoint_errors.py"
_OF_LEGS = "limits of a leg are rejected with the name of the leg, and so is a leg without"

TESTS: dict[str, tuple[str, str]] = {
    "SPLICE_CHECKPOINT.CORRUPT": (_CHECKPOINTS, "def test_a_damaged_entry_and_an_offset"),
    "SPLICE_CHECKPOINT.OTHER_SOURCE": (_CHECKPOINTS, "def test_a_checkpoint_of_another_source"),
    "SPLICE_CHECKPOINT.SOURCE_CHANGED": (_CHECKPOINTS, "def test_a_changed_chain_is_rejected"),
    "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED": (
        _CHECKPOINTS,
        "def test_a_damaged_entry_and_an_offset",
    ),
    "SPLICE_CONTINUOUS.LEG_NOT_SUPPORTED": (f"{_LIVE}/RealTimeHybridSuite.scala", _OF_LEGS),
    "SPLICE_CONTINUOUS.LIMIT_NOT_SUPPORTED": (f"{_LIVE}/ContinuousSuite.scala", _LIMITS),
    "SPLICE_CONTINUOUS.SKIPPED_FILES_NOT_SUPPORTED": (
        f"{_LIVE}/RealTimeHybridSuite.scala",
        "continuous mode rejects settings that skip files of a leg whose hand-over counts rows",
    ),
    "SPLICE_CONTINUOUS.SOURCE_NOT_SUPPORTED": (f"{_LIVE}/ContinuousSuite.scala", _LIMITS),
    "SPLICE_CONTINUOUS.TRIGGER_NOT_SUPPORTED": (
        f"{_LIVE}/TriggerChangeSuite.scala",
        "continuous mode continues after other triggers",
    ),
    "SPLICE_CONTINUOUS.UNCOMMITTED_BATCH": (
        "tests/kill/low_latency/test_triggers.py",
        "def test_continuous_mode_begins_only_after_an_uncommitted_batch_is_read",
    ),
    "SPLICE_DYNAMIC_KAFKA.ROLLBACK_NOT_SUPPORTED": (
        f"{_OPEN}/OpenClustersSuite.scala",
        "a start before rows of removed topics is rejected, and a micro-batch reads",
    ),
    "SPLICE_HAND_OVER.WRITER_SOURCE_NOT_FOUND": (
        _WRITER,
        "the number of the source selects its line, also with names of sources",
    ),
    "SPLICE_HAND_OVER_DATA.VERSION_EXPIRED": (
        _DECISION,
        "afterVersion: the stream begins after the version, and a removed version is a gap",
    ),
    "SPLICE_TABLE_OPTION.VERSION_CHANGED": (
        _DELTA,
        "a restart may name the fixed version, for example after the type of a column",
    ),
    "SPLICE_FILES.PATH_NOT_FOUND": (
        "tests/errors/test_errors.py",
        "def test_a_path_that_does_not_exist",
    ),
    "SPLICE_FILES.LISTING_FAILED": (
        _LISTER,
        "a listing that fails in one folder has no files",
    ),
    "SPLICE_FILES.FILES_MERGED": (
        _WATCHED,
        "a hand-over cannot count the files of merged segments",
    ),
    "SPLICE_FILES_DATA.LATE_FILES": (
        _WATCHER,
        "files that are older than forgotten files are a warning or an error",
    ),
    "SPLICE_REAL_TIME.LEG_NOT_SUPPORTED": (f"{_LIVE}/RealTimeHybridSuite.scala", _OF_LEGS),
    "SPLICE_REAL_TIME.LIMIT_NOT_SUPPORTED": (
        "tests/sources/test_real_time.py",
        "def test_a_limit_of_batches_is_rejected_by_name",
    ),
    "SPLICE_REAL_TIME.SOURCE_NOT_SUPPORTED": (f"{_LIVE}/RealTimeSuite.scala", _LIMITS),
    "SPLICE_REAL_TIME.TOO_FEW_CORES": (
        f"{_LIVE}/RealTimeUnionSuite.scala",
        "a query with more sources than cores fails by name",
    ),
    "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED": (_SECURITY, '"wrong_plain"'),
    "SPLICE_KAFKA.BROKER_ERROR": (_SECURITY, '"wrong_store"'),
    "SPLICE_HAND_OVER_DATA.COUNTS_LOST": (
        _COUNTS,
        "a kill between a commit and its progress loses the counts of a leg that may skip files",
    ),
    "SPLICE_HAND_OVER_DATA.FILE_NOT_COUNTED": (
        _COUNTS,
        "a file without counts that is deleted stops the query",
    ),
    "SPLICE_HYBRID.OTHER_END": (
        _COUNTS,
        "after a rollback behind a switch, files that are listed again stop the query",
    ),
    "SPLICE_METADATA.INVALID_RESPONSE": (
        f"{_METADATA}/UserMetadataServiceSuite.scala",
        "metadataProperties does not limit a class, and other rules of documents apply",
    ),
    "SPLICE_METADATA.SERVICE_NOT_CREATED": (
        f"{_METADATA}/UserMetadataServiceSuite.scala",
        "an error of the constructor is reported with option, class and cause",
    ),
    "SPLICE_TABLE.COLUMN_CHANGED": (
        _TABLES,
        "a column that has another type in the version that the query reads",
    ),
    "SPLICE_TABLE.EXTENSION_NOT_FOUND": (
        _TABLES,
        "a session without the SQL extension of Delta",
    ),
    "SPLICE_TABLE.VERSION_NOT_FOUND": (
        _TABLES,
        "a missing version, and a format without versions",
    ),
    "SPLICE_SETUP.PLAN_NOT_SUPPORTED": (
        "tests/deployment/test_connect.py",
        "def test_the_source_is_the_servers",
    ),
    "SPLICE_STREAM.INVALID_POSITION": (
        "jvm/streams/src/test/scala/splice/streams/StreamQuerySuite.scala",
        "a hand-over can set the start to an offset of the stream",
    ),
}
"""For each condition, the file of the test, and a text that identifies the test."""


def names(condition: str) -> bool:
    """Return True if the file of the test has the test, and the condition after the test."""
    file, test = TESTS[condition]
    text = (ROOT / file).read_text("utf-8")
    return test in text and condition in text[text.index(test) :]
