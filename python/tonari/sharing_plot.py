"""Messages per rank before and after: ranks sorted by how many they send or receive, a line per
scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tonari.benchmark.plot import save


def draw(answers: list[Any], title: str, file: Path) -> None:
    import matplotlib  # takes a while, and only plots need it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(13, 4.8), sharey=True, layout="constrained")
    for axis, what in zip(axes, ("sent", "received")):
        for answer in shown(answers):
            counts = sorted(getattr(answer, what), reverse=True)
            axis.step(
                range(len(counts)),
                counts,
                where="mid",
                linewidth=2.2 if answer.scheme == "direct" else 1.4,
                label=answer.scheme,
            )
        axis.set(title=f"messages {what}", xlabel="ranks, the busiest first", ylim=(0, None))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("messages of a rank")
    axes[1].legend(fontsize="small")
    figure.suptitle(Path(title).name)
    save(figure, file)
    pyplot.close(figure)


def shown(answers: list[Any]) -> list[Any]:
    """Of store and forward those with the most and the fewest words; of balanced its default."""
    forward = [answer for answer in answers if answer.scheme.startswith("store-and-forward/")]
    left_out = forward[1:-1]
    return [answer for answer in answers if not answer.variant and answer not in left_out]
