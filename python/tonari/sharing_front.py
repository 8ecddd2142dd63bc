# SPDX-License-Identifier: BSD-3-Clause
"""The front of balanced, few words at one end and few messages at the other, and where the other
schemes lie beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Setting:
    """BalanceOptions of the core (planners/patterns/balance_options.hpp)."""

    stages: int
    price: float = inf
    words: float = inf

    def __str__(self) -> str:
        """The variant of balanced that runs it: tonari_algorithm=balanced/3 stages price 5."""
        parts = [f"{self.stages} stages"]
        if self.price != inf:
            parts.append(f"price {self.price:g}")
        if self.words != inf:
            parts.append(f"words {self.words:g}")
        return " ".join(parts)

    def name(self) -> str:
        """Of a file."""
        return str(self).replace(" ", "-")

    def setting(self) -> str:
        """What a program says to run it."""
        return f"tonari_algorithm=balanced/{self}"

    def short(self) -> str:
        """As in a narrow table."""
        return "/".join(
            f"{part:g}" for part in (self.stages, self.price, self.words) if part != inf
        )


# From few words to few messages. More stages take several times as long to plan as 2.
SETTINGS = [Setting(2, 5, words) for words in (1.1, 1.25, 1.5)] + [
    Setting(stages, price) for stages in range(2, 9) for price in (2.0, 5.0, 10.0, 20.0, inf)
]


@dataclass(frozen=True)
class Limit:
    """The fewest messages for a limit of words (planners/patterns/within_words.hpp)."""

    words: float

    def __str__(self) -> str:
        """The variant of balanced that runs it; all digits, so that a scheme's words are within."""
        return f"words {self.words!r}"

    def name(self) -> str:
        return str(self).replace(" ", "-")

    def setting(self) -> str:
        return f"tonari_algorithm=balanced/{self}"

    def short(self) -> str:
        return f"<={self.words:.3g}"


Point = Setting | Limit


@dataclass(frozen=True)
class Comparison:
    """A scheme, and the settings that dominate it; None where there is none.

    fewest_messages  of the busiest sender, among those of no more words
    fewest_words     among those whose busiest sender sends no more messages
    """

    scheme: Any
    fewest_messages: tuple[Point, Any] | None
    fewest_words: tuple[Point, Any] | None


def points(front: Sequence[Comparison]) -> list[Point]:
    """Those that dominate some scheme, each once."""
    found = [one for row in front for one in (row.fewest_messages, row.fewest_words) if one]
    return list(dict.fromkeys(point for point, _ in found))


def compare(schemes: Sequence[Any], settings: Sequence[tuple[Point, Any]]) -> list[Comparison]:
    """Each of the schemes against all settings."""
    found = []
    for scheme in schemes:
        at_most_words = [one for one in settings if one[1].words <= scheme.words]
        at_most_messages = [one for one in settings if one[1].max_messages <= scheme.max_messages]
        found.append(
            Comparison(
                scheme,
                min(
                    at_most_words, key=lambda one: (one[1].max_messages, one[1].words), default=None
                ),
                min(
                    at_most_messages,
                    key=lambda one: (one[1].words, one[1].max_messages),
                    default=None,
                ),
            )
        )
    return found
