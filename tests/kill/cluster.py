# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A standalone Spark cluster whose workers have two host names.

Spark runs the second copy of a slow task only on another host than the first copy, so ``local[n]``
and ``local-cluster`` run no second copy. Two loopback addresses count as two hosts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

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
_REGISTERED = "Successfully registered with master"
_LOGGING = """rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %m%n
"""


@contextmanager
def two_hosts(folder: Path, cores: int = 1) -> Iterator[str]:
    """Start a master and one worker per host, and return the master's address.

    Args:
        folder: Folder for logs and files of the workers, which must not exist.
        cores: Number of cores of each worker.
    """
    folder.mkdir()
    (port,) = free_ports(1)
    master = f"spark://{_HOSTS[0]}:{port}"
    with ExitStack() as running:

        def start(name: str, host: str, *arguments: str) -> ServerProcess:
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
            return process

        started = [start("master.Master", _HOSTS[0], "--port", str(port), "--webui-port", "0")]
        wait_for("the master", lambda: "New state: ALIVE" in started[0].log.read_text())
        work = [
            "--cores",
            str(cores),
            "--memory",
            "1g",
            "--webui-port",
            "0",
            "--work-dir",
            str(folder),
        ]
        started += [start("worker.Worker", host, *work, master) for host in _HOSTS]
        logs = [worker.log for worker in started[1:]]
        wait_for("the workers", lambda: all(_REGISTERED in log.read_text() for log in logs))
        yield master


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
    logging = folder / "log4j2.properties"
    logging.write_text(_LOGGING)
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    quick = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "sun.nio.ch")]
    places = [f"-Djava.io.tmpdir={folder}", f"-Dlog4j2.configurationFile={logging.as_uri()}"]
    return [java, *quick, *opened, *places, "-cp", f"{_spark_home()}/jars/*"]


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent
