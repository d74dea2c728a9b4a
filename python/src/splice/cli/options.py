# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of a source in a file, and settings of Kafka clients as arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from splice._internal.option_map import OptionMap
from splice.errors import OptionError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable


class OptionFile:
    """Options of a file with one ``name=value`` per line.

    Empty lines and lines that begin with ``#`` are ignored. The value is the text after the first
    ``=``, without spaces at both ends.
    """

    def __init__(self, file: str) -> None:
        """Read a file.

        Raises:
            OptionError: if a line has no ``=`` or no name, or if two lines set the same option.
        """
        self.file = file
        self.options = OptionMap()
        self._lines: dict[str, int] = {}
        for number, line in enumerate(Path(file).read_text("utf-8").splitlines(), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                self._add(number, text)

    def place(self, option: str) -> str:
        """Return the file and the line that sets an option; the file if no line sets it."""
        line = self._lines.get(option.lower())
        return self.file if line is None else f"{self.file}:{line}"

    def _add(self, number: int, text: str) -> None:
        name, equals, value = (part.strip() for part in text.partition("="))
        place = f"{self.file}:{number}"
        if not equals or not name:
            raise OptionError(f"{place}: the line is not 'name=value', for example 'source=kafka'.")
        if name.lower() in self._lines:
            first = self._lines[name.lower()]
            raise OptionError(f"{place}: the option '{name}' is already set in line {first}.")
        self._lines[name.lower()] = number
        self.options = self.options.updated({name: value})


def add_kafka(command: argparse.ArgumentParser, purpose: str = "") -> None:
    """Add the options of a command that connects to one cluster.

    Args:
        command: Parser of the command.
        purpose: End of the help of ``--servers``, such as ``to compare positions``.
    """
    servers = f"bootstrap servers of a cluster {purpose}".strip()
    command.add_argument("--servers", metavar="HOST:PORT", help=servers)
    command.add_argument(
        "--kafka",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="property of the Kafka client, such as security.protocol=SSL; may be repeated",
    )


def pairs(arguments: Iterable[str], option: str) -> dict[str, str]:
    """Return arguments of the form ``NAME=VALUE`` as a dictionary.

    Raises:
        OptionError: if an argument has no name or no ``=``.
    """
    found = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name.strip():
            # The argument may be a secret.
            raise OptionError(f"{option}: an argument is not NAME=VALUE.")
        found[name.strip().removeprefix("kafka.")] = value
    return found


def client(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the properties of a Kafka client by ``--servers`` and ``--kafka``.

    Raises:
        OptionError: if an argument of ``--kafka`` has no name or no ``=``.
    """
    found = pairs(arguments.kafka, "--kafka")
    return found | ({"bootstrap.servers": arguments.servers} if arguments.servers else {})
