# SPDX-License-Identifier: BSD-3-Clause
"""No bytes break the readers of Python: graph files, partitions and sizes. What is wrong is refused
with one sentence. The seed of a failure is in its test's name; TONARI_TEST_SEED=n begins there, and
TONARI_TEST_SECONDS=n goes on for as long."""

from __future__ import annotations

import gzip
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from tonari.errors import Error
from tonari.graph_files import partition
from tonari.graphs import read_graph
from tonari.sizes import parse_size, plain_sizes

SEED = int(os.environ.get("TONARI_TEST_SEED", "1"))
SECONDS = float(os.environ.get("TONARI_TEST_SECONDS", "0"))
CASES = 300
WORDS = [
    b"", b"0", b"-1", b"1", b"4294967296", b"18446744073709551616", b"9223372036854775807", b"nan",
    b"1e999", b"0x10", b"\n", b"\r\n", b"\t", b"%", b"#", b" ", b"\0", b"\xff", b"\xd9\xa4",
    b"9" * 300, b"symmetric", b"pattern", b"complex", b"array",
]  # fmt: skip
MARKET = b"%%MatrixMarket matrix coordinate real general\n% mine\n3 4 3\n1 1 0.5\n2 4 -1e3\n3 2 7\n"
EXAMPLES = {
    "edges": [b"0 1\n1 2\n# comment\n2 0\n", b"0 1 8\n1 0 16\n"],
    "graph": [b"3 2\n2\n1 3\n2\n", b"% mine\n2 1 11\n4 2 1\n5 1 1\n", b"2 1 1\n2 7\n1 7\n"],
    "mtx": [
        MARKET,
        b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
        b"%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n",
    ],
}
PARTS = [b"0\n1\n1\n0\n", b"0\n0\n2\n1\n"]
SIZES = [b"4096", b"64K", b"1MiB", b"8,4KiB,1M"]


def changed(draw: random.Random, examples: list[bytes]) -> bytes:
    text = draw.choice(examples)
    for _ in range(draw.randrange(6)):
        at = draw.randint(0, len(text))
        end = min(len(text), at + draw.randint(0, 8))
        other = draw.choice(examples)
        text = draw.choice(
            [
                text[:at] + text[end:],
                text[:at] + draw.choice(WORDS) + text[at:],
                text[:at] + draw.choice(WORDS) + text[end:],
                text[:end] + text[at:],
                text[:at],
                text[:at] + other[draw.randint(0, len(other)) :],
                text[:at] + bytes([draw.randrange(256)]) + text[at + 1 :],
            ]
        )
    return text


def refuses_or_reads(work: Callable[[], object]) -> None:
    """With one sentence of ours, not with what Python says."""
    try:
        work()
    except Error as error:
        assert "\n" not in str(error).strip()
        assert len(str(error)) > 10
    except typer.BadParameter as error:
        assert len(error.message) > 10


def each_case(examples: list[bytes], use: Callable[[random.Random, bytes], None]) -> None:
    begin = time.monotonic()
    seed = SEED
    while seed < SEED + CASES or time.monotonic() < begin + SECONDS:
        draw = random.Random(seed)
        text = changed(draw, examples)
        try:
            use(draw, text)
        except Exception as error:
            pytest.fail(f"TONARI_TEST_SEED={seed}: {text!r}: {type(error).__name__}: {error}")
        seed += 1


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_bytes_break_a_graph(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{kind}"

    def use(draw: random.Random, text: bytes) -> None:
        path.write_bytes(
            gzip.compress(text, mtime=0)[: draw.randint(1, 200)] if draw.random() < 0.1 else text
        )
        ranks = draw.choice([None, None, 1, 2, 3])
        refuses_or_reads(lambda: read_graph(str(path), ranks))

    each_case(EXAMPLES[kind], use)


def test_no_bytes_break_a_partition() -> None:
    def use(draw: random.Random, text: bytes) -> None:
        parts = draw.choice([None, 1, 3])
        refuses_or_reads(lambda: partition("file", text, 4, parts))

    each_case(PARTS, use)


def test_no_text_breaks_a_size() -> None:
    def use(_: random.Random, text: bytes) -> None:
        word = text.decode("utf-8", errors="replace")
        refuses_or_reads(lambda: parse_size(word, "--bytes"))
        refuses_or_reads(lambda: plain_sizes(word, "--bytes"))

    each_case(SIZES, use)
