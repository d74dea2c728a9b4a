# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed of simulated lives: a block of scenarios of one simulation of the Scala tests."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from soak.story import Story

_ROOT = Path(__file__).resolve().parents[3]
_HOUR = 3600


@dataclass(frozen=True)
class Simulation:
    """Test that runs scenarios.

    Attributes:
        module: Module of sbt.
        suite: Class of the suite.
        test: Part of the name of the test, without a space.
        lives: Number of scenarios of a block.
    """

    module: str
    suite: str
    test: str
    lives: int


_CHAINS = "splice.simulation.ChainSimulationSuite"

SIMULATIONS = (
    Simulation("dynamicKafka", "splice.kafka.dynamic.life.DynamicLifeSuite", "scenario", 500),
    Simulation("hybrid", _CHAINS, "scenario", 1000),
    Simulation("hybrid", _CHAINS, "low-latency", 500),
    Simulation("hybrid", _CHAINS, "130", 10),
    Simulation("kafka", "splice.kafka.internal.admission.EventTimeAdmissionSuite", "random", 4000),
    Simulation(
        "dynamicKafka",
        "splice.kafka.dynamic.internal.admission.EventTimeClustersSuite",
        "random",
        1000,
    ),
)


def block(seed: int) -> tuple[Simulation, str]:
    """Return the simulation of a seed, and its range of scenarios. The simulations take turns."""
    number, turn = divmod(seed - 1, len(SIMULATIONS))
    simulation = SIMULATIONS[turn]
    return simulation, f"{number * simulation.lives + 1}..{(number + 1) * simulation.lives}"


def run_seed(seed: int, _topic: str, _servers: object, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a scenario fails.
    """
    simulation, lives = block(seed)
    story.faults.append(f"{simulation.suite}, '{simulation.test}', scenarios {lives}")
    test = f"testOnly {simulation.suite} -- -Dsplice.seed={lives} -z {simulation.test}"
    log = story.folder / "sbt.log"
    with log.open("wb") as out:
        done = subprocess.run(
            [_ROOT / "project" / "sbt", f"{simulation.module}/{test}"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={key: value for key, value in os.environ.items() if key not in ("CI", "SEED")},
            timeout=_HOUR,
            check=False,
        )
    text = log.read_text()
    # Without a test of this name, sbt succeeds without a test.
    passed = done.returncode == 0 and "Tests: succeeded 1, failed 0" in text
    assert passed, f"{test}:\n{text[-8000:]}"
