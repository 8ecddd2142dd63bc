# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of ghosts without MPI: which messages a rank sends, and how long they would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tonari.core import core
from tonari.errors import ALGORITHM, Error
from tonari.grids import balanced_dims
from tonari.simulation import Job
from tonari.simulation_jobs import check_ranks
from tonari.suggestion import did_you_mean

EXCHANGES = ("pack", "basic", "layout", "memmap")


@dataclass(frozen=True)
class Cubes:
    """Subdomains of several sizes, in cells, and the bytes of a page."""

    sizes: Sequence[int]
    ghost: int
    brick: int
    page: int


def halo_exchanges(asked: Sequence[str]) -> list[str]:
    """Those asked for, or all."""
    for name in asked:
        if name not in EXCHANGES:
            raise Error(
                f"there is no exchange '{name}' here; choose from {', '.join(EXCHANGES)}"
                + did_you_mean(name, EXCHANGES),
                ALGORITHM,
            )
    return list(asked) or list(EXCHANGES)


def halo_jobs(cubes: Cubes, ranks: int, exchanges: Sequence[str], machine: str) -> list[Job]:
    """A job for each size and exchange. Its bytes are those of the ghosts, without padding."""
    check_ranks(ranks)
    dims = list(balanced_dims(ranks, 3))
    return [
        Job(name, "halo", _ghosts(cubes, size), ranks,
            _variants(name, cubes, size, dims, machine), {"size": size})
        for size in cubes.sizes
        for name in exchanges
    ]  # fmt: skip


def _cube(cubes: Cubes, size: int) -> Any:
    return core().HaloCube(size, cubes.ghost, cubes.brick, cubes.page)


def _ghosts(cubes: Cubes, size: int) -> int:
    return sum(core().halo_messages("pack", _cube(cubes, size)))


def _variants(
    name: str, cubes: Cubes, size: int, dims: list[int], machine: str
) -> Callable[[], list[tuple[str, Callable[[], Any]]]]:
    def variants() -> list[tuple[str, Callable[[], Any]]]:
        c, cube = core(), _cube(cubes, size)
        model = c.read_machine_file(machine) if machine else c.LogGP()
        count = len(c.halo_messages(name, cube))
        return [(f"{count} messages", lambda: c.halo_schedule(name, cube, dims, model))]

    return variants
