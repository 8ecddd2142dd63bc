# SPDX-License-Identifier: BSD-3-Clause
"""Completion in bash, zsh and fish. The scripts that are installed ask the program itself, which
answers by its table of commands, options and known values.

    python -m tonari.completion FOLDER    writes the scripts, where shells look below share
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from typer.completion import completion_init, get_completion_script

VARIABLE = "_TONARI_COMPLETE"  # by which a script asks
FILES = {
    "bash": "bash-completion/completions/tonari",
    "zsh": "zsh/site-functions/_tonari",
    "fish": "fish/vendor_completions.d/tonari.fish",
}
# A file that zsh loads when it first needs it is itself the function.
ZSH_LOADED = '[[ $zsh_eval_context[-1] == loadautofunc ]] && _tonari_completion "$@"'


def prepare() -> None:
    """Before the program runs: lets it answer if a shell asks."""
    if VARIABLE in os.environ:
        completion_init()


def values(*known: str) -> Callable[[str], list[str]]:
    """What a parameter offers: those of these words that begin as what was typed."""

    def offered(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return offered


def script(shell: str) -> str:
    text = get_completion_script(prog_name="tonari", complete_var=VARIABLE, shell=shell)
    return "\n".join([text, *([ZSH_LOADED] if shell == "zsh" else []), ""])


def write(folder: Path) -> None:
    for shell, name in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(shell), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
