# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A producer that writes orders to the topics of the metadata while the metadata changes."""

from __future__ import annotations

import itertools

from background import Background
from soak.dynamic.places import Places

_ROWS = 20
_PAUSE = 0.05


class Flow(Background):
    """Producer that writes orders to one topic after another, on a separate thread.

    ```python
    with Flow(places):
        places.publish()
    ```
    """

    def __init__(self, places: Places) -> None:
        """Create a producer that does not run."""
        super().__init__("flow", _PAUSE)
        self._places = places
        self._turns = itertools.count()

    def work(self) -> None:
        """Write orders to the next topic whose cluster is available."""
        with self._places.lock:
            available = [
                place for place in self._places.there if place.cluster not in self._places.down
            ]
            if available:
                self._places.produce(available[next(self._turns) % len(available)], _ROWS)
