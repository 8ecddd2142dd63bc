# SPDX-License-Identifier: BSD-3-Clause
"""Rows of steps, kept in a file each, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonari import __version__, output
from tonari.reproduce.figures import Rows, Step


@dataclass(frozen=True)
class Keep:
    """A folder of files, one for each step of each figure."""

    folder: Path

    def path(self, figure: str, step: Step) -> Path:
        name = re.sub(r"[^a-z0-9.]+", "-", f"{figure}-{step.name}".lower())
        return self.folder / f"{name.strip('-')}.json"

    def load(self, figure: str, step: Step) -> Rows | None:
        """The rows, if this version made them by the same command."""
        try:
            kept = json.loads(self.path(figure, step).read_text(encoding="utf-8"))
            return kept["rows"] if _head(step).items() <= kept.items() else None
        except (OSError, ValueError, KeyError, AttributeError):
            return None  # never made, or cut off while it was written

    def save(self, figure: str, step: Step, rows: Rows) -> None:
        path = self.path(figure, step)
        path.parent.mkdir(parents=True, exist_ok=True)
        head = json.dumps(_head(step))[:-1]
        whole = f'{head}, "rows": {output.as_json(rows)}}}\n'
        part = path.with_suffix(".part")
        part.write_text(whole, encoding="utf-8")
        part.replace(path)


def _head(step: Step) -> Mapping[str, Any]:
    return {"tonari": __version__, "command": list(step.arguments)}
