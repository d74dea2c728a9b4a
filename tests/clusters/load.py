# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A producer that writes orders to changing topics."""

from __future__ import annotations

import threading

from background import Background
from clusters.atlas import Atlas


class Load(Background):
    """Producer that writes orders to its target topics on a separate thread.

    ```python
    with Load(atlas) as load:
        load.aim(("east", topic))
    ```
    """

    def __init__(self, atlas: Atlas, burst: int = 7, pause: float = 0.02) -> None:
        """Create a producer with an atlas, the orders per burst and the seconds between bursts.

        The producer has no targets.
        """
        super().__init__("load", pause)
        self._atlas, self._burst = atlas, burst
        self._targets: tuple[tuple[str, str], ...] = ()
        self._lock = threading.Lock()

    def aim(self, *targets: tuple[str, str]) -> None:
        """Set the targets as pairs of cluster and topic.

        The new targets replace the previous targets.
        """
        with self._lock:
            self._targets = targets

    def work(self) -> None:
        """Write a burst to each target."""
        with self._lock:
            for cluster, topic in self._targets:
                self._atlas.produce(cluster, topic, self._burst)
