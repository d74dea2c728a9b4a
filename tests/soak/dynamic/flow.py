# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A producer that writes orders to the topics of the metadata while the metadata changes."""

from __future__ import annotations

import itertools
import threading
from types import TracebackType

from soak.dynamic.places import Places

_ROWS = 20
_PAUSE = 0.05


class Flow:
    """Producer that writes orders to one topic after another, on a separate thread.

    ```python
    with Flow(places):
        places.publish()
    ```
    """

    def __init__(self, places: Places) -> None:
        """Create a producer that does not run."""
        self._places = places
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="flow", daemon=True)

    def __enter__(self) -> None:
        """Start the thread."""
        self._thread.start()

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

    def _run(self) -> None:
        try:
            for number in itertools.count():
                if self._stopped.wait(_PAUSE):
                    return
                with self._places.lock:
                    reached = [
                        place
                        for place in self._places.there
                        if place.cluster not in self._places.down
                    ]
                    if reached:
                        self._places.produce(reached[number % len(reached)], _ROWS)
        except Exception as error:
            self._failure = error
