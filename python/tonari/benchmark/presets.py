"""The experiments of the paper's section 4 and 6, small enough for two cores."""

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

    def arguments(self) -> list[str]:
        chosen = ["--algorithms", self.algorithms] if self.algorithms else []
        return ["--pattern", self.pattern, "--op", self.op, "--bytes", self.bytes, *chosen, *(["--setup"] if self.setup else [])]


_SMALL = "1,8,64,512,2048"
_AGAINST_NATIVE = "auto,native,native-persistent,irecv,torus,torus-direct"
_THREE = "auto,linear,tonari-irecv,irecv,torus,torus-direct"

PRESETS: dict[str, list[Run]] = {
    # Table 2: making neighbourhoods and requests, d = 2..5, r = 1..3.
    "table2": [Run(f"moore:{d}:{r}", setup=True) for d in (2, 3, 4, 5) for r in (1, 2, 3)],
    # Figure 2: all-to-all on Moore neighbourhoods and on one with positive coordinates only, against MPI's collective.
    "fig2": [Run(p, bytes=_SMALL, algorithms=_AGAINST_NATIVE) for p in ("moore:2:1", "moore:3:1", "moore:4:1", "moore:5:1", "moore:3:3", "octant:3:3")],
    # Figure 3: blocks that shrink towards the corners, m^(d - |C|). The largest block is m^(d - 1).
    "fig3": [
        Run("moore:3:1", "alltoallw", "16,256,4096,65536,262144", _AGAINST_NATIVE),
        Run("moore:4:1", "alltoallw", "64,512,4096,32768,262144", _AGAINST_NATIVE),
    ],
    # Figure 4: straight, torus and torus-direct; a full neighbourhood, and two shells.
    "fig4": [Run("moore:3:3", bytes="1,8,64,512,2048", algorithms=_THREE), Run("shells:3:3,7", bytes="1,8,64,512", algorithms=_THREE)],
    # Figure 5: allgather beside all-to-all on the same neighbourhood.
    "fig5": [
        Run(pattern, op, "1,8,64,512,4096", "auto,native,torus,torus-direct")
        for pattern in ("moore:3:3", "octant:3:3")
        for op in ("allgather", "alltoall")
    ],
}
