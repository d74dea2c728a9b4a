# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice metadata``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from splice._internal import jvm_metadata
from splice._internal.option_map import OptionMap
from splice._internal.reading import source_errors
from splice._internal.registry import chain_options
from splice.cli import OK, PROBLEM, USAGE, metadata_text
from splice.cli.options import OptionFile, add_format, add_source
from splice.cli.session import add_conf, local_session
from splice.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from splice._internal.jvm_metadata import StoredSource
    from splice._internal.values import OptionValue

    Found = dict[str, Any]

_NO_BATCH = (
    "No batch of the source is committed. Start the query, and repeat the command after the first "
    "batch. 'splice metadata check' needs no checkpoint."
)


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the command."""
    command = commands.add_parser(
        "metadata",
        help="check a stream metadata document, and compare it with a checkpoint",
        description="Check a stream metadata document, and compare it with a checkpoint.",
    )
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_check(actions)
    _add_diff(actions)
    _add_drained(actions)


def _add_check(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    action = actions.add_parser(
        "check",
        help="check a document by the rules of the query",
        description=(
            "Check a document by the rules of the query: format, names, client properties and "
            "references to secrets. With --reach, also request the topics and permissions from "
            "each active cluster. The exit code is 1 if the document has a problem."
        ),
    )
    action.add_argument("file", metavar="FILE", help="YAML or JSON document")
    action.add_argument(
        "--reach", action="store_true", help="send requests to the clusters of the document"
    )
    _add_common(action, _check)


def _add_diff(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    action = actions.add_parser(
        "diff",
        help="show the changes that a query would make with a document",
        description=(
            "Show the changes that the next trigger of a query would make with a document: added "
            "and removed topics and clusters, unread rows of removed topics, and rejected streams. "
            "Also show missing topics and missing permissions. The command reads the checkpoint, "
            "sends requests to the clusters, and writes nothing. The query may be running. The "
            "exit code is 1 if the query would reject the document or a part of the document, or "
            "if a topic or a permission is missing."
        ),
    )
    action.add_argument("checkpoint", metavar="CHECKPOINT", help="checkpoint of the query")
    action.add_argument("file", metavar="FILE", help="YAML or JSON document")
    add_source(action, "the only source")
    _add_common(action, _diff)


def _add_drained(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    action = actions.add_parser(
        "drained",
        help="show if a cluster can be switched off",
        description=(
            "Show if a query no longer needs a cluster: every topic was removed, and all rows "
            "before the removal were read and committed. The exit code is 0 if the query no longer "
            "needs a row of the cluster, and 1 if the query still needs a topic. The exit code is "
            "also 0 if Splice has abandoned rows, or if the document still lists a topic that has "
            "reached its stop. A line 'note:' names these topics. Read the notes before you switch "
            "off the cluster."
        ),
    )
    action.add_argument("checkpoint", metavar="CHECKPOINT", help="checkpoint of the query")
    action.add_argument("cluster", metavar="CLUSTER", help="name of the cluster in the metadata")
    add_source(action, "each source")
    _add_common(action, _drained)


def _add_common(
    action: argparse.ArgumentParser,
    command: Callable[[SparkSession, argparse.Namespace], tuple[Any, str, int]],
) -> None:
    action.add_argument(
        "--options",
        metavar="FILE",
        help=(
            "options of the query, one name=value per line; the options set the streams, the "
            "policies and the permitted properties"
        ),
    )
    action.add_argument(
        "--leg", metavar="NAME", help="use only this leg of a hybrid source, and its options"
    )
    action.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=10,
        help="maximum time for which the command waits for a cluster; 10 by default",
    )
    add_format(action)
    add_conf(action)
    action.set_defaults(run=lambda arguments: _run(arguments, command))


def _seconds(text: str) -> int:
    try:
        seconds = int(text)
    except ValueError:
        seconds = 0
    if seconds < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def _run(
    arguments: argparse.Namespace,
    command: Callable[[SparkSession, argparse.Namespace], tuple[Any, str, int]],
) -> int:
    if arguments.leg and not arguments.options:
        raise OptionError("--leg needs --options.")
    with local_session(arguments) as spark, source_errors():
        found, text, code = command(spark, arguments)
    shown = json.dumps(found) if arguments.format == "json" else text
    if shown:
        print(shown)
    return code


def _check(_: SparkSession, arguments: argparse.Namespace) -> tuple[Any, str, int]:
    found = jvm_metadata.check(_options(arguments), arguments.reach)
    return found, metadata_text.check(arguments.file, found), metadata_text.code(found)


def _diff(spark: SparkSession, arguments: argparse.Namespace) -> tuple[Any, str, int]:
    options = _options(arguments)
    sources = _sources(spark, arguments)
    if len(sources) > 1:
        names = ", ".join(source.name for source in sources)
        raise OptionError(
            f"A document is compared with one source, and the checkpoint has the sources {names}. "
            "Set --source, and for a hybrid source also --leg."
        )
    (source,) = sources
    of_source = jvm_metadata.diff(options, source) if source.committed else {"error": _NO_BATCH}
    found = {"source": source.name, **of_source}
    return [found], metadata_text.diff(arguments.file, found), metadata_text.code(found)


def _drained(spark: SparkSession, arguments: argparse.Namespace) -> tuple[Any, str, int]:
    options = _options(arguments)
    found: list[Found] = [
        {"source": source.name, **jvm_metadata.drained(options, source, arguments.cluster)}
        for source in _sources(spark, arguments)
    ]
    known = [one for one in found if "drained" in one]
    if not known:
        names = sorted({name for one in found for name in one["clusters"]})
        text = f"The checkpoint has no cluster '{arguments.cluster}'. Clusters: {', '.join(names)}"
        print(text, file=sys.stderr)
        return found, "", USAGE
    code = OK if all(one["drained"] for one in known) else PROBLEM
    return found, "\n\n".join(map(metadata_text.drained, known)), code


def _sources(spark: SparkSession, arguments: argparse.Namespace) -> list[StoredSource]:
    """Return the sources of many clusters that ``--source`` and ``--leg`` select."""
    found = jvm_metadata.dynamic_sources(spark, arguments.checkpoint)
    if not found:
        raise OSError(
            f"The checkpoint {arguments.checkpoint} has no source of many Kafka clusters."
        )
    selected = [one for one in found if _is_selected(one.name, arguments.source, arguments.leg)]
    if not selected:
        names = ", ".join(one.name for one in found)
        raise OptionError(
            f"--source and --leg select no source of many Kafka clusters. Sources: {names}."
        )
    return selected


def _is_selected(name: str, source: str | None, leg: str | None) -> bool:
    """Return True for a name such as ``0/leg-live`` if its source and its leg are selected."""
    number, _, folder = name.partition("/")
    of_leg = leg is None or folder.lower() == f"leg-{leg.lower()}"
    return of_leg and source in (None, number)


def _options(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the options of the query, with the document and the timeouts of the command."""
    given = OptionFile(arguments.options).options if arguments.options else OptionMap()
    options = _of_leg(given, arguments.leg) if arguments.leg else OptionMap(dict(given))
    file = getattr(arguments, "file", None)
    # A command that reads only a checkpoint never reads this path.
    path = str(Path(file).resolve()) if file and Path(file).exists() else file or "/unused"
    changed: dict[str, OptionValue] = {
        "metadata": "file",
        "metadata.file": path,
        # The command must not commit offsets to the group of the query.
        "commitToGroup": False,
        "clusterWait": f"{arguments.timeout}s",
    }
    if not options.named("streams", "streamPattern"):
        changed["streamPattern"] = ".*"
    if not options.named("kafka.default.api.timeout.ms"):
        changed["kafka.default.api.timeout.ms"] = arguments.timeout * 1000
    return options.updated(changed, without=["source"])


def _of_leg(given: OptionMap, leg: str) -> OptionMap:
    """Return the options of a leg's source, without the options of the hybrid about the leg."""
    prefix = f"{leg.lower()}."
    of_chain = {name.lower() for name in chain_options()}
    found = {name[len(prefix) :]: v for name, v in given.items() if name.lower().startswith(prefix)}
    if not found:
        raise OptionError(f"--leg: the options have no leg '{leg}'.")
    return OptionMap({k: v for k, v in found.items() if k.lower().split(".")[0] not in of_chain})
