# SPDX-License-Identifier: BSD-3-Clause
"""The command line: finds the commands, and turns errors into one sentence and an exit status."""

from __future__ import annotations

import atexit
import os
import sys
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tonari import __version__, completion
from tonari import help as helping
from tonari.errors import Error
from tonari.interruptible import Interrupted
from tonari.suggestion import did_you_mean

# Modules of tonari.commands, in the order of the help; each has register(app).
COMMANDS = [
    "plan",
    "plan_inplace",
    "simulate",
    "simulate_inplace",
    "simulate_halo",
    "predict",
    "layout",
    "share",
    "partition",
    "bench",
    "bench_inplace",
    "bench_halo",
    "bench_spmv",
    "bench_sparse",
    "calibrate",
    "run",
    "advise",
    "conformance",
    "reproduce",
    "settings",
]


class _Commands(TyperGroup):
    """Commands of one word or two: `bench inplace` has options of its own, `bench moore:3:1` those
    of bench."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        helping.show(self, ctx)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Of commands of two words the first one; its arguments offer the second."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        two = " ".join(args[:2])
        if two in self.commands:
            return super().resolve_command(ctx, [two, *args[2:]])
        known = args[0] in self.commands or args[0].startswith("-")
        if not known and not ctx.resilient_parsing:  # as it is while a shell completes
            meant = did_you_mean(args[0], self.commands) or "; `tonari --help` lists all"
            ctx.fail(f"there is no command '{args[0]}'{meant}")
        return super().resolve_command(ctx, args)


class _Program(typer.Typer):
    """All of its commands have tonari's form of help."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        return super().command(name, cls=helping.Command, **settings)


app = _Program(
    name="tonari",
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tonari {__version__}")
        raise typer.Exit()


@app.callback()
def _tonari(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plans and measures halo exchanges and other sparse communication.

    Example:  tonari plan moore:3:1 --bytes 64
    """


for command in COMMANDS:
    import_module(f"tonari.commands.{command}").register(app)


@cache
def program() -> Any:
    """All commands with their parameters. Making them takes 0.07 s, longer than most of them run: a
    process that calls main() often makes them once."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; the exit status is 0 only on success, 2 if the command line itself is
    wrong."""
    completion.prepare()
    try:
        return int(program()(arguments, prog_name="tonari", standalone_mode=False) or 0)
    except typer.TyperException as error:
        return _complain(_sentence(error), error.exit_code)
    except Error as error:
        return _complain(str(error), 1)
    except typer.Abort:
        return _complain("stopped", 130)
    except Interrupted as stop:
        atexit.register(_leave, 130)  # threads may be at work in what is about to be taken down
        return _complain(str(stop), 130)
    except BrokenPipeError:  # the reader had enough: tonari plan ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _sentence(error: typer.TyperException) -> str:
    if not hasattr(error, "possibilities"):
        return error.format_message()
    option = error.option_name
    near = did_you_mean(option, error.possibilities or [])
    return f"there is no option {option}{near or '; --help lists all'}"


def _leave(status: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _complain(sentence: str, status: int) -> int:
    if sentence:  # empty where the help was printed instead
        print(f"tonari: {sentence}", file=sys.stderr)
    return status
