# SPDX-License-Identifier: BSD-3-Clause
"""Which MPIs have `tonari advise`, what it records, and what its page has, for tests of it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import built
import pytest
from built import more

LIBRARY = "../lib/libtonari_advise.so"
MPIS = {mpi: how for mpi, how in built.with_program(LIBRARY).items() if mpi != "abi"}
CASES = [mpi if number == 0 else more(mpi) for number, mpi in enumerate(MPIS)]
needs_build = pytest.mark.skipif(not MPIS, reason="needs a build (TONARI_BUILD)")
each_mpi = pytest.mark.parametrize("mpi", CASES or ["none"])


def records(tonari_us: float, **more_fields: Any) -> list[dict[str, Any]]:
    """Of two ranks that exchange 1 KiB for 40 of every 100 us, a thousand times in 0.1 s."""
    rows = []
    for rank in (0, 1):
        place = {"call": "MPI_Isend", "file": "/none/a<b", "offset": 16}
        pattern = {
            "key": "1", "epochs": 1000, "seconds": 0.04, "exchange_us": 40.0, "step_us": 100.0,
            "places": [place], "messages": [[0, 1, 1 - rank, 1024], [0, 0, 1 - rank, 1024]],
            "mpi_us": 30.0, "tonari_us": tonari_us, "how": "linear over shared", "why": "",
        } | more_fields  # fmt: skip
        loop = {
            "record": "loop", "key": "0", "call": "MPI_Waitall", "file": "/none/a<b", "offset": 32,
            "ranks": 2, "epochs": 1000, "others": 0, "distinct": 1, "seconds": 0.04,
            "patterns": [pattern],
        }  # fmt: skip
        begin = {"record": "rank", "rank": rank, "ranks": 2, "seconds": 0.1}
        rows += [begin | {"finalized": True, "not_kept": 0}, loop]
    return rows


class Tags(HTMLParser):
    """What is open, and what a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
