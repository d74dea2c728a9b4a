# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Orders that keep coming to some topics, while these change."""

from __future__ import annotations

import threading
from types import TracebackType

from clusters.atlas import Atlas


class Load:
    """Writes orders to the topics that it is aimed at, from a thread of its own.

    ```python
    with Load(atlas) as load:
        load.aim(("east", topic))
    ```
    """

    def __init__(self, atlas: Atlas, burst: int = 7, pause: float = 0.02) -> None:
        """Takes where orders are counted, how many come at once, and the seconds between."""
        self._atlas, self._burst, self._pause = atlas, burst, pause
        self._targets: tuple[tuple[str, str], ...] = ()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)

    def __enter__(self) -> Load:
        """Begins, aimed at nothing."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends, and raises what went wrong unless something else did."""
        self._stopped.set()
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def aim(self, *targets: tuple[str, str]) -> None:
        """Writes to these topics, given as cluster and topic, and to no other from now on."""
        with self._lock:
            self._targets = targets

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self._pause):
                with self._lock:
                    for cluster, topic in self._targets:
                        self._atlas.produce(cluster, topic, self._burst)
        except Exception as error:
            self._failure = error
