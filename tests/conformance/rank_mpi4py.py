# SPDX-License-Identifier: BSD-3-Clause
"""What each rank runs: mpi4py's own test program, which also writes what came of each test.

rank_mpi4py.py TESTS VERDICTS [OPTIONS...]    the folder of the tests, a folder for files of
                                              lines `name verdict`, options of the program
"""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
out = sys.stdout  # changed below; mpi4py.futures runs this file in workers without words, too


class Recorder(unittest.TextTestResult):
    """A test that begins and has no other line has ended the process."""

    def _tell(self, test: Any, verdict: str) -> None:
        print(test.id(), verdict, file=out)

    def startTest(self, test: Any) -> None:  # noqa: N802
        self._tell(test, "begun")
        super().startTest(test)

    def addSuccess(self, test: Any) -> None:  # noqa: N802
        self._tell(test, "right")
        super().addSuccess(test)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self._tell(test, "skipped")
        super().addSkip(test, reason)

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        self._tell(test, "wrong")
        super().addFailure(test, err)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        self._tell(test, "wrong")
        super().addError(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err:
            self._tell(test, "wrong")
        super().addSubTest(test, subtest, err)


if __name__ == "__main__":
    tests, verdicts = sys.argv[1:3]
    sys.path.insert(0, tests)
    out = (Path(verdicts) / str(os.getpid())).open("w", buffering=1)
    import main as suite  # mpi4py's

    runner = unittest.TextTestRunner(resultclass=Recorder, verbosity=0)
    suite.main(module=None, argv=["main.py", *sys.argv[3:]], testRunner=runner)
