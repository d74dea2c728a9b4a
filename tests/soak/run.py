# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Run seeds. Each seed runs a query from its first start to its end, with random events.

The program can be stopped (Ctrl-C) and restarted. A restarted program skips seeds that have passed
with the same commit. The ledger and the folders of failed seeds are in ``.soak`` in the
repository's root.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_TESTS))

from servers.clusters import Clusters  # noqa: E402
from servers.kafka.brokers import KafkaBrokers  # noqa: E402
from servers.kafka.cluster import KafkaCluster  # noqa: E402
from servers.storage.hdfs import HdfsStore  # noqa: E402
from servers.storage.s3 import S3Store  # noqa: E402
from servers.storage.store import Store  # noqa: E402
from soak import seeds  # noqa: E402
from soak.dynamic import seed as dynamic_seed  # noqa: E402
from soak.files import seed as files_seed  # noqa: E402
from soak.hybrid import seed as hybrid_seed  # noqa: E402
from soak.kafka import seed as kafka_seed  # noqa: E402
from soak.ledger import PASSED, Entry, Kind, Ledger  # noqa: E402
from soak.lives import seed as lives_seed  # noqa: E402
from soak.memory import seed as memory_seed  # noqa: E402
from soak.realtime import seed as realtime_seed  # noqa: E402
from soak.story import Story  # noqa: E402
from soak.tables import seed as tables_seed  # noqa: E402
from soak.tables.table import lake  # noqa: E402

_ROOT = _TESTS.parent
_FOLDER = _ROOT / ".soak"

_SERVERS: dict[Kind, Callable[[], Any]] = {
    Kind.HYBRID: KafkaCluster,
    Kind.KAFKA: lambda: KafkaBrokers(proxied=True, settings=kafka_seed.BROKERS),
    Kind.DYNAMIC: Clusters,
    Kind.REALTIME: lambda: Clusters(kafka_seed.BROKERS),
    Kind.MEMORY: lambda: KafkaCluster(heap="1g"),
    Kind.LIVES: nullcontext,
    Kind.TABLES: lake,
    Kind.FILES: KafkaCluster,
}
_OLD = "2.6"
_STORES: dict[str, Callable[[], Store]] = {"hdfs": HdfsStore, "s3": S3Store}
_SEEDS: dict[Kind, Callable[[int, str, Any, Story], None]] = {
    Kind.HYBRID: hybrid_seed.run_seed,
    Kind.KAFKA: kafka_seed.run_seed,
    Kind.DYNAMIC: dynamic_seed.run_seed,
    Kind.REALTIME: realtime_seed.run_seed,
    Kind.MEMORY: memory_seed.run_seed,
    Kind.LIVES: lives_seed.run_seed,
    Kind.TABLES: tables_seed.run_seed,
    Kind.FILES: files_seed.run_seed,
}


def main() -> int:
    """Run the requested seeds. The result is 0 if all seeds have passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1..200", help="seeds, such as 1..200 or 3,7,20..29")
    kinds = [kind.value for kind in Kind]
    parser.add_argument(
        "--kind", choices=kinds, help="kind of the seeds; the default is all kinds except memory"
    )
    stores = sorted(_STORES)
    parser.add_argument("--store", choices=stores, help="store of the checkpoints of a hybrid")
    parser.add_argument("--broker", choices=[_OLD], help="version of the brokers of a kafka seed")
    given = parser.parse_args()
    if given.store and given.kind != Kind.HYBRID:
        parser.error("--store needs --kind hybrid")
    if given.broker and given.kind != Kind.KAFKA:
        parser.error("--broker needs --kind kafka")
    requested = seeds.parse(given.seeds)
    named = [kind for kind in Kind if kind.value == given.kind]
    chosen = named or [kind for kind in Kind if kind is not Kind.MEMORY]
    variant = given.store or given.broker
    name = f"ledger-{variant}.jsonl" if variant else "ledger.jsonl"
    ledger, commit = Ledger(_FOLDER / name), _commit()
    signal.signal(signal.SIGTERM, _stop)
    try:
        for kind in chosen:
            left = ledger.to_run(requested, commit, kind)
            print(f"{len(left)} of {len(requested)} {kind} seeds to run at {commit}", flush=True)
            if left:
                _run(kind, left, ledger, commit, given.store, given.broker)
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue", flush=True)
    for kind in chosen:
        print(ledger.summary(requested, commit, kind))
    print(f"ledger: {ledger.file}")
    return 0 if all(ledger.all_passed(requested, commit, kind) for kind in chosen) else 1


def _run(
    kind: Kind,
    left: list[int],
    ledger: Ledger,
    commit: str,
    store: str | None,
    broker: str | None,
) -> None:
    with ExitStack() as running:
        old = KafkaBrokers(proxied=True, settings=kafka_seed.BROKERS, old=True) if broker else None
        servers = running.enter_context(old or _SERVERS[kind]())
        run_seed = _SEEDS[kind]
        if store:
            checkpoints = running.enter_context(_STORES[store]())
            run_seed = partial(hybrid_seed.run_seed, store=checkpoints)
        for seed in left:
            entry = _run_and_time(kind, seed, _on(servers, run_seed), commit)
            ledger.add(entry)
            print(
                f"{kind} seed {seed}: {entry.result.splitlines()[0]}, {len(entry.kills)} deaths, "
                f"{len(entry.faults)} faults, {entry.seconds:.0f} s",
                flush=True,
            )


def _run_and_time(
    kind: Kind, seed: int, run_seed: Callable[[int, str, Story], None], commit: str
) -> Entry:
    began, result = time.monotonic(), PASSED
    topic = f"soak-{kind}-{seed}-{time.time_ns()}"
    with _folder(f"{kind}-{seed}") as folder:
        story = Story(folder)
        try:
            run_seed(seed, topic, story)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
            failed = _FOLDER / f"failed-{folder.name}"
            shutil.copytree(folder, failed, dirs_exist_ok=True)
            (failed / "failure.txt").write_text(traceback.format_exc())
    return Entry(
        seed=seed,
        version=(_ROOT / "VERSION").read_text().strip(),
        commit=commit,
        result=result,
        seconds=round(time.monotonic() - began, 1),
        kills=story.kills,
        kind=kind,
        faults=story.faults,
    )


def _on(
    servers: Any, run_seed: Callable[[int, str, Any, Story], None]
) -> Callable[[int, str, Story], None]:
    return lambda seed, topic, story: run_seed(seed, topic, servers, story)


@contextmanager
def _folder(name: str) -> Iterator[Path]:
    folder = _FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _commit() -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(_ROOT), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain") else "")


def _stop(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
