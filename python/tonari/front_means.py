# SPDX-License-Identifier: BSD-3-Clause
"""What the front of balanced has beside the other schemes, over a set of patterns: geometric means
of what `tonari share --front` says of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tonari.sharing_front import Comparison, Point
from tonari.thesis_tables import geometric_mean

Found = tuple[Point, Any]


@dataclass(frozen=True)
class Ratio:
    """The best points of balanced, relative to a scheme."""

    messages: float
    words: float


@dataclass(frozen=True)
class Mean:
    """Messages of the busiest sender, and words relative to direct. few_messages: with no more
    words than the scheme has; few_words: with no more messages. None: some pattern has none."""

    scheme: str
    messages: float
    words: float
    few_messages: Ratio | None
    few_words: Ratio | None


def means(patterns: Sequence[Sequence[Comparison]]) -> list[Mean]:
    """Of the schemes that all patterns have, in the order of the first one."""
    tables = [{row.scheme.scheme: row for row in pattern} for pattern in patterns]
    return [
        _mean([table[scheme] for table in tables])
        for scheme in tables[0]
        if all(scheme in table for table in tables)
    ]


def _mean(rows: list[Comparison]) -> Mean:
    return Mean(
        rows[0].scheme.scheme,
        geometric_mean(row.scheme.max_messages for row in rows),
        geometric_mean(row.scheme.words for row in rows),
        _ratio([(row.fewest_messages, row.scheme) for row in rows]),
        _ratio([(row.fewest_words, row.scheme) for row in rows]),
    )


def _ratio(found: list[tuple[Found | None, Any]]) -> Ratio | None:
    pairs = [(best[1], scheme) for best, scheme in found if best]
    if len(pairs) < len(found):
        return None
    return Ratio(
        geometric_mean(best.max_messages / scheme.max_messages for best, scheme in pairs),
        geometric_mean(best.words / scheme.words for best, scheme in pairs),
    )


def json_row(mean: Mean, patterns: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "patterns": patterns,
        "scheme": mean.scheme,
        "max_messages": mean.messages,
        "words": mean.words,
    }
    for name, ratio in (("few_messages", mean.few_messages), ("few_words", mean.few_words)):
        row |= {
            f"{name}_messages": ratio.messages if ratio else None,
            f"{name}_words": ratio.words if ratio else None,
        }
    return row
