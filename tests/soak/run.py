# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs seeds: of each, a query from its first start to its end, killed where the seed says.

It can be stopped (Ctrl-C) and started again: what has passed with the same commit is left out. The
ledger, and the folders of seeds that failed, are in ``.soak`` in the repository's root.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_TESTS))

from kill.scenario import Scenario  # noqa: E402
from servers.kafka import KafkaCluster  # noqa: E402
from servers.kafka_topics import KafkaTopics  # noqa: E402
from soak import seeds  # noqa: E402
from soak.fate import fate  # noqa: E402
from soak.ledger import PASSED, Entry, Ledger  # noqa: E402

_ROOT = _TESTS.parent
_FOLDER = _ROOT / ".soak"


def run_seed(seed: int, topics: KafkaTopics, folder: Path, kills: list[str]) -> None:
    """Runs one seed, and notes where the driver died.

    Raises:
        AssertionError: if a row is missing or doubled, a decision was changed, or a life failed.
    """
    destiny = fate(seed)
    topic = f"soak-{seed}-{time.time_ns()}"
    try:
        scenario = Scenario.make(topics, topic, folder, destiny.rows)
        scenario.given(sink=destiny.sink)
        for life in destiny.lives:
            scenario.given(master=f"local[{life.cores}]")
            if life.more:
                scenario.produce(life.more)
            lived = scenario.run(life.kill)
            if lived.acted:
                kills.append(lived.acted.removeprefix("acts: ").replace(str(folder), ""))
            else:
                assert lived.process.exit_code == 0, lived.process.tail(80)
        scenario.finish()
        scenario.assert_each_once()
        scenario.assert_switched_once()
    finally:
        topics.delete(topic)


def main() -> int:
    """Runs the seeds that are asked for; 0 means that all have passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1..200", help="such as 1..200 or 3,7,20..29")
    asked = seeds.parse(parser.parse_args().seeds)
    ledger, commit = Ledger(_FOLDER / "ledger.jsonl"), _commit()
    left = ledger.to_run(asked, commit)
    print(f"{len(left)} of {len(asked)} seeds to run at {commit}", flush=True)
    signal.signal(signal.SIGTERM, _stop)
    try:
        if left:
            with KafkaCluster() as kafka:
                for seed in left:
                    entry = _run_and_time(seed, kafka.topics, commit)
                    ledger.add(entry)
                    said = entry.result.splitlines()[0]
                    print(
                        f"seed {seed}: {said}, {len(entry.kills)} deaths, {entry.seconds:.0f} s",
                        flush=True,
                    )
    except KeyboardInterrupt:
        print("stopped; run it again to go on", flush=True)
    print(ledger.summary(asked, commit))
    return 0 if ledger.all_passed(asked, commit) else 1


def _run_and_time(seed: int, topics: KafkaTopics, commit: str) -> Entry:
    began, kills, result = time.monotonic(), list[str](), PASSED
    with _folder(seed) as folder:
        try:
            run_seed(seed, topics, folder, kills)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
            shutil.copytree(folder, _FOLDER / f"failed-{seed}", dirs_exist_ok=True)
    seconds = round(time.monotonic() - began, 1)
    return Entry(seed, (_ROOT / "VERSION").read_text().strip(), commit, result, seconds, kills)


@contextmanager
def _folder(seed: int) -> Iterator[Path]:
    folder = _FOLDER / f"seed-{seed}"
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
