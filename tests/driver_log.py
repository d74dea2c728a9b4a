# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The log of the driver's JVM, read while a query runs."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class DriverLog:
    """What the JVM of a session logs from now on, by its own levels.

    ```python
    with DriverLog(spark, tmp_path) as log:
        wait_for("a warning", lambda: log.has("cluster north"))
    ```
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        """Takes a classic session, and a folder for a file."""
        self._jvm: Any = spark.sparkContext._jvm
        self._file = folder / f"log-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> DriverLog:
        """Begins to write the file."""
        log4j = self._jvm.org.apache.logging.log4j
        layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%p %c{1} %m%n").build()
        builder = log4j.core.appender.FileAppender.newBuilder().withFileName(str(self._file))
        self._appender = builder.setName(self._file.name).setLayout(layout).build()
        self._appender.start()
        configuration = log4j.LogManager.getContext(False).getConfiguration()
        self._logger = configuration.getRootLogger()
        self._logger.addAppender(self._appender, None, None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Writes no more."""
        self._logger.removeAppender(self._file.name)
        self._appender.stop()

    def has(self, pattern: str) -> bool:
        """Whether a line contains a regular expression."""
        return re.search(pattern, self._file.read_text(errors="replace")) is not None
