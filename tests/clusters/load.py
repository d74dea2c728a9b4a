# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A producer that writes orders to changing topics."""

from __future__ import annotations

import threading
from types import TracebackType

from clusters.atlas import Atlas


class Load:
    """Producer that writes orders to its target topics on a separate thread.

    ```python
    with Load(atlas) as load:
        load.aim(("east", topic))
    ```
    """

    def __init__(self, atlas: Atlas, burst: int = 7, pause: float = 0.02) -> None:
        """Create a producer with an atlas, the orders per burst and the seconds between bursts."""
        self._atlas, self._burst, self._pause = atlas, burst, pause
        self._targets: tuple[tuple[str, str], ...] = ()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)

    def __enter__(self) -> Load:
        """Start the thread without targets."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread, and raise its error unless the block raised another error."""
        self._stopped.set()
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def aim(self, *targets: tuple[str, str]) -> None:
        """Set the targets as pairs of cluster and topic.

        The new targets replace the previous targets.
        """
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
