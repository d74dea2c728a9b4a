# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A standalone Spark cluster whose workers have two host names.

Spark runs the second copy of a slow task only on another host than the first copy, so ``local[n]``
and ``local-cluster`` run no second copy. Two loopback addresses count as two hosts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from servers.ports import free_ports
from servers.process import ServerProcess
from servers.waiting import wait_for

BOTH_EXECUTORS = {
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
}
"""Settings of a driver that starts its queries after an executor of each host has registered.

Otherwise all tasks may run on the executor that registers first, and no task on the other executor.
The workers must have one core each.
"""

_HOSTS = ("127.0.0.1", "127.0.0.2")


@contextmanager
def two_hosts(folder: Path, cores: int = 1) -> Iterator[str]:
    """Start a master and one worker per host, and return the master's address.

    Args:
        folder: Folder for logs and files of the workers, which must not exist.
        cores: Number of cores of each worker.
    """
    folder.mkdir()
    port, page = free_ports(2)
    master = f"spark://{_HOSTS[0]}:{port}"
    common = ["--webui-port", "0", "--memory", "1g", "--work-dir", str(folder)]
    with ExitStack() as running:

        def start(name: str, host: str, *arguments: str) -> None:
            process = ServerProcess(
                [*_java(folder), f"org.apache.spark.deploy.{name}", "--host", host, *arguments],
                folder / f"{name}-{host}.log",
                {
                    "SPARK_HOME": str(_spark_home()),
                    "SPARK_SCALA_VERSION": "2.13",
                    "SPARK_LOCAL_IP": host,
                },
            )
            running.callback(process.kill)

        start("master.Master", _HOSTS[0], "--port", str(port), "--webui-port", str(page))
        wait_for("the master", lambda: _state(page).get("status") == "ALIVE", 180)
        for host in _HOSTS:
            start("worker.Worker", host, "--cores", str(cores), *common, master)
        wait_for("the workers", lambda: _state(page).get("aliveworkers") == len(_HOSTS), 180)
        yield master


def _state(page: int) -> dict[str, Any]:
    """Return the state of the master at the port of its page; empty before its start.

    Spark starts its web server first, then adds the page, and the document in JSON last. Until
    then the page answers every path.
    """
    try:
        with urlopen(f"http://{_HOSTS[0]}:{page}/json/", timeout=30) as response:
            if response.headers.get_content_type() == "text/html":
                return {}
            state: dict[str, Any] = json.load(response)
            return state
    except OSError:
        return {}


def executors(folder: Path) -> list[int]:
    """Return the process ids of the executors of a cluster with this folder."""
    return [
        int(process.name)
        for process in Path("/proc").iterdir()
        if process.name.isdigit() and _is_executor(process, folder)
    ]


def _is_executor(process: Path, folder: Path) -> bool:
    try:
        command = (process / "cmdline").read_bytes()
        where = (process / "cwd").readlink()
    except OSError:
        return False
    return b"CoarseGrainedExecutorBackend" in command and where.is_relative_to(folder)


def _java(folder: Path) -> list[str]:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    quick = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "sun.nio.ch")]
    return [java, *quick, *opened, f"-Djava.io.tmpdir={folder}", "-cp", f"{_spark_home()}/jars/*"]


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent
