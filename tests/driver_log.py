# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Log of the driver's JVM, which tests read while a query runs."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


class DriverLog:
    """Log of a session's JVM from now on, with the levels of the JVM.

    ```python
    with DriverLog(spark, tmp_path) as log:
        wait_for("a warning", lambda: log.has("cluster north"))
    ```
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        """Create a log with a classic session, and a folder for its file."""
        self._jvm: Any = spark.sparkContext._jvm
        self._file = folder / f"log-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> DriverLog:
        """Start writing the file."""
        log4j = self._jvm.org.apache.logging.log4j
        layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%p %c{1} %m%n").build()
        builder = log4j.core.appender.FileAppender.newBuilder().withFileName(str(self._file))
        self._appender = builder.setName(self._file.name).setLayout(layout).build()
        self._appender.start()
        configuration = log4j.LogManager.getContext(False).getConfiguration()
        self._logger = configuration.getRootLogger()
        self._logger.addAppender(self._appender, None, None)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop writing the file."""
        self._logger.removeAppender(self._file.name)
        self._appender.stop()

    def has(self, pattern: str) -> bool:
        """Return True if a line contains a match of a regular expression."""
        return re.search(pattern, self._file.read_text(errors="replace")) is not None
