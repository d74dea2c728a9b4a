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
            OptionError: if a line has no ``=`` or no name, if two lines set the same option, or if
                the file is not UTF-8 text.
        """
        self.file = file
        self.options = OptionMap()
        self._lines: dict[str, int] = {}
        try:
            lines = Path(file).read_text("utf-8").splitlines()
        except UnicodeError as error:
            raise OptionError(f"{file}: the file is not UTF-8 text: {error}") from None
        for number, line in enumerate(lines, 1):
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


def add_format(command: argparse.ArgumentParser) -> None:
    """Add the option ``--format``."""
    command.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output"
    )


def add_source(command: argparse.ArgumentParser, default: str) -> None:
    """Add the option ``--source`` of a command for a checkpoint, with the source by default."""
    command.add_argument(
        "--source",
        metavar="I",
        help=f"number or name of the source in the query, as in sources/I; default: {default}",
    )


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
    command.add_argument(
        "--kafka-file",
        metavar="FILE",
        help=(
            "file with properties of the Kafka client, one name=value per line; other users of the "
            "machine can read arguments, so put secrets into a file"
        ),
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
        found[name.strip()] = value
    return found


def properties(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the properties of a Kafka client by ``--kafka-file`` and ``--kafka``.

    ``--kafka`` replaces a property of the file. The prefix ``kafka.`` of a name is removed.

    Raises:
        OptionError: if an argument of ``--kafka`` or a line of the file is not NAME=VALUE.
    """
    of_file = dict(OptionFile(arguments.kafka_file).options) if arguments.kafka_file else {}
    return {
        name.removeprefix("kafka."): value
        for found in (of_file, pairs(arguments.kafka, "--kafka"))
        for name, value in found.items()
    }


def client(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the properties of a Kafka client by ``properties(...)`` and ``--servers``.

    Raises:
        OptionError: if an argument of ``--kafka`` or a line of the file is not NAME=VALUE.
    """
    servers = {"bootstrap.servers": arguments.servers} if arguments.servers else {}
    return properties(arguments) | servers


def require_servers(arguments: argparse.Namespace, options: Iterable[str]) -> None:
    """Reject options that have no effect without ``--servers``.

    Raises:
        OptionError: if one of the options is set, and ``--servers`` is not set.
    """
    for option in options:
        name = option.removeprefix("--").replace("-", "_")
        if getattr(arguments, name) and not arguments.servers:
            raise OptionError(f"{option} needs --servers.")
