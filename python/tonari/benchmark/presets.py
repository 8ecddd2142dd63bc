# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of the papers, small enough for two cores: table2 to fig5 of Traff et al. 2016,
fig9 to fig12 of Hoefler and Schneider 2012."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One start of tonari_bench. Empty algorithms: the program's usual ones."""

    pattern: str
    op: str = "alltoall"
    bytes: str = "8"
    algorithms: str = ""
    setup: bool = False
    mesh: bool = False

    def arguments(self) -> list[str]:
        chosen = ["--algorithms", self.algorithms] if self.algorithms else []
        return [
            "--pattern",
            self.pattern,
            "--op",
            self.op,
            "--bytes",
            self.bytes,
            *chosen,
            *(["--setup"] if self.setup else []),
            *(["--mesh"] if self.mesh else []),
        ]


_SMALL = "1,8,64,512,2048"
_AGAINST_NATIVE = "auto,native,native-persistent,irecv,torus,torus-direct"
_THREE = "auto,linear,tonari-irecv,irecv,torus,torus-direct"

_WIDE = "16,128,1024,8192,65536,1048576"
# No algorithm is listed that may not apply: a named one that does not is an error. An empty list
# stands for all that do.
_ON_GRAPHS = ""

PRESETS: dict[str, list[Run]] = {
    # Table 2: making neighborhoods and requests, d = 2..5, r = 1..3.
    "table2": [Run(f"moore:{d}:{r}", setup=True) for d in (2, 3, 4, 5) for r in (1, 2, 3)],
    # Figure 2: all-to-all on Moore neighborhoods and on one with positive coordinates only, against
    # MPI's collective.
    "fig2": [
        Run(p, bytes=_SMALL, algorithms=_AGAINST_NATIVE)
        for p in ("moore:2:1", "moore:3:1", "moore:4:1", "moore:5:1", "moore:3:3", "octant:3:3")
    ],
    # Figure 3: blocks that shrink towards the corners, m^(d - |C|). The largest block is m^(d - 1).
    "fig3": [
        Run("moore:3:1", "alltoallw", "16,256,4096,65536,262144", _AGAINST_NATIVE),
        Run("moore:4:1", "alltoallw", "64,512,4096,32768,262144", _AGAINST_NATIVE),
    ],
    # Figure 4: straight, torus and torus-direct; a full neighborhood, and two shells.
    "fig4": [
        Run("moore:3:3", bytes="1,8,64,512,2048", algorithms=_THREE),
        Run("shells:3:3,7", bytes="1,8,64,512", algorithms=_THREE),
    ],
    # Figure 5: allgather beside all-to-all on the same neighborhood.
    "fig5": [
        Run(pattern, op, "1,8,64,512,4096", "auto,native,torus,torus-direct")
        for pattern in ("moore:3:3", "octant:3:3")
        for op in ("allgather", "alltoall")
    ],
    # Figure 9: a sparse all-to-all A(16 bytes, p) of varying density. Most interesting with
    # --ranks 8 or 16.
    "fig9": [
        Run(f"random:{density}", bytes="16", algorithms=_ON_GRAPHS)
        for density in ("0.1", "0.25", "0.5", "0.75", "1")
    ],
    # Figures 10 and 11: stencils in two and four dimensions.
    "fig10": [Run("star:2:1", bytes=_WIDE, algorithms=_AGAINST_NATIVE + ",linear")],
    "fig11": [Run("star:4:1", bytes=_WIDE, algorithms=_AGAINST_NATIVE + ",linear")],
    # Figure 12: the Weather Research and Forecast model, 41 x 81 columns of 65 cells on a mesh in
    # two dimensions, in strong scaling. A side's ghosts are three layers of floats: some ten
    # columns on the fewest ranks of the figure, two on the most.
    "fig12": [
        Run(
            "star:2:1",
            bytes=",".join(str(3 * 65 * 4 * columns) for columns in (2, 4, 10)),
            algorithms=_AGAINST_NATIVE + ",linear",
            mesh=True,
        )
    ],
    # Graphs whose busiest rank decides.
    "hotspots": [
        Run(pattern, op, "8,512,8192,65536", _ON_GRAPHS)
        for pattern in ("hotspot", "hotspot-in", "scale-free:2", "clique:4")
        for op in ("alltoall", "allgather")
    ],
}
