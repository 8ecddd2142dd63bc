# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --front of several files: geometric means against those of each file's own rows."""

from __future__ import annotations

import json
from math import prod

import pytest
from command_line import fits, printed
from test_share import communication, share
from tonari.front_means import Ratio, means
from tonari.sharing_front import Comparison

KINDS = ("messages", "words")
SCHEMES = "store-and-forward/2,sharing-2"


class Counts:
    """An answer of the core, as far as means ask it."""

    def __init__(self, scheme, max_messages, words):
        self.scheme, self.max_messages, self.words = scheme, max_messages, words


def geometric(values):
    return prod(values) ** (1 / len(values))


def test_means_are_those_of_each_file(tonari, tmp_path):
    """Of each scheme, and of the best settings beside it; the readable form says the same."""

    def at(name):
        def write(_, text):
            (tmp_path / name).write_text(text)
            return str(tmp_path / name)

        return write

    paths = [communication(at(f"{seed}.mtx"), 24, seed) for seed in (5, 6)]
    asked = f"--communication --front --schemes {SCHEMES}"
    alone = [share(tonari, f"{path} {asked}") for path in paths]
    rows = share(tonari, f"{' '.join(paths)} {asked}")
    assert [row["scheme"] for row in rows] == SCHEMES.split(",")
    for row in rows:
        found = {"messages": [], "words": [], "few_messages": [], "few_words": []}
        for table in alone:
            (scheme,) = (one for one in table if one["scheme"] == row["scheme"])
            points = [one for one in table if one["scheme"] == "balanced"]
            within = [p["max_messages"] for p in points if p["words"] <= scheme["words"]]
            as_few = [p["words"] for p in points if p["max_messages"] <= scheme["max_messages"]]
            found["messages"].append(scheme["max_messages"])
            found["words"].append(scheme["words"])
            found["few_messages"].append(min(within) / scheme["max_messages"])
            found["few_words"].append(min(as_few) / scheme["words"])
        assert row["patterns"] == 2
        assert row["max_messages"] == pytest.approx(geometric(found["messages"]))
        assert row["words"] == pytest.approx(geometric(found["words"]))
        assert row["few_messages_messages"] == pytest.approx(geometric(found["few_messages"]))
        assert row["few_words_words"] == pytest.approx(geometric(found["few_words"]))
        assert row["few_messages_words"] <= 1 and row["few_words_messages"] <= 1
    text = printed(tonari(f"share {' '.join(paths)} {asked}"))
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    for row in rows:
        numbers = [row["max_messages"], row["words"]]
        numbers += [row[f"few_{few}_{of}"] for few in KINDS for of in KINDS]
        assert lines[row["scheme"]] == [f"{numbers[0]:.1f}", *(f"{n:.2f}" for n in numbers[1:])]
    assert fits(text)


def test_only_schemes_of_all_patterns_have_means():
    """And where one pattern has no such setting, there is no mean of it."""
    one, two = Counts("one", 8, 1.5), Counts("two", 4, 2.0)
    best = ("setting", Counts("balanced", 2, 1.0))
    first = [Comparison(one, best, best), Comparison(two, best, best)]
    (mean,) = means([first, [Comparison(Counts("one", 2, 6.0), best, None)]])
    assert (mean.scheme, mean.messages) == ("one", pytest.approx(4))
    assert mean.words == pytest.approx(3)
    assert isinstance(mean.few_messages, Ratio) and mean.few_words is None
    assert mean.few_messages.messages == pytest.approx(0.5)
    assert mean.few_messages.words == pytest.approx(1 / 3)
