# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What has happened in the run of a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kill.life import Life


@dataclass
class Story:
    """Notes for the ledger.

    Attributes:
        folder: Where the seed runs.
        kills: Where the driver died.
        faults: What else befell it.
    """

    folder: Path
    kills: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ends(self, life: Life) -> bool:
        """Notes where a driver died, and says whether it ended by itself instead.

        Raises:
            AssertionError: if it failed.
        """
        if life.acted:
            self.kills.append(life.acted.removeprefix("acts: ").replace(str(self.folder), ""))
            return False
        assert life.process.exit_code == 0, life.process.tail(80)
        return True
