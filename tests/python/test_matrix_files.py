# SPDX-License-Identifier: BSD-3-Clause
"""The files of tests/data/matrices: Python takes and refuses the same ones as C++, whose test is
tests/vector/matrix_files_test.cpp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tonari
from tonari import errors
from tonari.communication import read_matrix

FILES = Path(__file__).resolve().parents[1] / "data/matrices"
RIGHT = {
    words[0]: np.array(words[2:], float).reshape(int(words[1]), -1)
    for words in map(str.split, (FILES / "right.txt").read_text().splitlines())
}
WRONG = sorted(path.stem for path in (FILES / "wrong").glob("*.mtx"))


def test_every_file_has_what_it_holds() -> None:
    assert sorted(RIGHT) == sorted(path.stem for path in (FILES / "right").glob("*.mtx"))
    assert len(RIGHT) >= 18 and len(WRONG) >= 28


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_files_are_taken(name: str) -> None:
    matrix = read_matrix(str(FILES / f"right/{name}.mtx"), signed=True)
    dense = np.zeros(matrix.shape)
    np.add.at(dense, (matrix.rows, matrix.columns), matrix.values)
    np.testing.assert_array_equal(dense, RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused(name: str) -> None:
    with pytest.raises(tonari.Error, match=f"{name}.mtx") as refused:
        read_matrix(str(FILES / f"wrong/{name}.mtx"), signed=True)
    assert refused.value.code == errors.FILE
