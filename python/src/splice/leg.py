# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One leg of a hybrid source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from splice.errors import OptionError
from splice.hand_over import HandOver
from splice.source import Source

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Leg:
    """A named source within a chain, with how it takes over and what is selected of its rows."""

    name: str
    source: Source
    hand_over: HandOver | None = None
    select: str | None = None

    def check(self) -> None:
        """Checks all that can be said of this leg alone.

        Raises:
            OptionError: naming the leg.
        """
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise OptionError(
                f"{self.name!r} cannot name a leg, because the name becomes part of option names. "
                "Give letters, digits and underscores, a letter first."
            )
        if not isinstance(self.source, Source):
            raise OptionError(
                f"Leg '{self.name}' is of type {type(self.source).__name__}, which is no source. "
                "Give what FileSource.builder(...).build() or KafkaSource.builder()...build() made."
            )
        if self.select is not None and not (isinstance(self.select, str) and self.select.strip()):
            raise OptionError(
                f"'select' of leg '{self.name}' is {self.select!r}. Give a SELECT list such as "
                "'id, CAST(value AS STRING) AS text', or leave it out to keep all columns."
            )
        if self.hand_over is not None and not isinstance(self.hand_over, HandOver):
            raise OptionError(
                f"'hand_over' of leg '{self.name}' is {self.hand_over!r}, which is no rule. Give "
                "HandOver.offsets(), event_time(...), modification_time(...) or now_minus(...)."
            )

    def options(self) -> dict[str, str]:
        """Gives the options of this leg, each with its name in front."""
        own = self.source.options()
        if self.hand_over is not None:
            own |= self.hand_over.options()
        if self.select is not None:
            own["select"] = self.select
        return {f"{self.name}.{option}": value for option, value in own.items()}
