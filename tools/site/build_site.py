# SPDX-License-Identifier: BSD-3-Clause
"""Builds the documentation site: build_site.py OUTPUT. Warnings are errors.

The tables and pictures come from the command line of the build tree (PYTHONPATH), the pages from
docs/. OUTPUT/html/index.html is the result; llms.txt lies beside it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import five_papers  # noqa: E402
import llms  # noqa: E402
from inserts import INSERTS  # noqa: E402
from stage import Stage  # noqa: E402


def gather(folder: Path) -> Stage:
    """The sources of the site, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stage = Stage(ROOT, folder, INSERTS)
    stage.write_all()
    return stage


def main(output: Path) -> int:
    from sphinx.cmd.build import build_main

    source, pages = output / "source", output / "html"
    stage = gather(source)
    quiet = ["-q", "-W", "--keep-going", "-j", "2", "-d", str(output / "doctrees")]
    status = build_main(["-b", "html", "-c", str(HERE), *quiet, str(source), str(pages)])
    if status == 0:
        llms.write(stage, pages)
        five_papers.write(pages, output.parent)
        print(f"the documentation is {pages / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
