# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Events of the run of a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kill.life import Life


@dataclass
class Story:
    """Events for the ledger.

    Attributes:
        folder: Folder of the seed.
        kills: Steps at which the driver was killed.
        faults: Other faults.
    """

    folder: Path
    kills: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ends(self, life: Life) -> bool:
        """Record the kill of a driver, and return True if the driver ended without a kill.

        Raises:
            AssertionError: if the driver failed.
        """
        if life.acted:
            self.kills.append(life.acted.removeprefix("acts: ").replace(str(self.folder), ""))
            return False
        assert life.process.exit_code == 0, life.process.tail(80)
        return True
