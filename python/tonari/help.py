# SPDX-License-Identifier: BSD-3-Clause
"""What --help prints: usage, text, arguments, options and commands, for 80 columns. No word is
broken, and no bracket is taken for markup."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand

from tonari import output

WIDEST = 100
LEFT = 22  # columns of the names; longer ones have a line of their own
EXAMPLE = "Example:  "


class Command(TyperCommand):
    """A command with this form of help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        show(self, ctx)


def show(command: Any, ctx: Any) -> None:
    """Prints the help of a command, or of the group of all commands."""
    console = output.console()
    width = min(console.width, WIDEST)
    _print(console, _wrapped(usage(command, ctx), width, "", " " * 7), "bold")
    for paragraph in paragraphs(command):
        console.print()
        _print(console, paragraph_lines(paragraph, width))
    arguments, options = parameters(command, ctx)
    _section(console, "Arguments", [(name_of(p), meaning(p)) for p in arguments], width)
    _section(console, "Options", [(spelled(p), meaning(p)) for p in options], width)
    commands = getattr(command, "commands", {})
    _section(console, "Commands", [(n, first_line(c)) for n, c in commands.items()], width)


def paragraphs(command: Any) -> list[str]:
    """What a command's help says above its lists."""
    return re.split(r"\n\s*\n", command.help or "")


def parameters(command: Any, ctx: Any) -> tuple[list[Any], list[Any]]:
    """Arguments and options that are shown."""
    shown = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [param for param in shown if is_argument(param)]
    return arguments, [param for param in shown if param not in arguments]


def paragraph_lines(paragraph: str, width: int) -> list[str]:
    """A paragraph as lines. An example goes on behind a backslash, so that a shell takes it as it
    stands here."""
    text = " ".join(paragraph.split())
    if not text.startswith(EXAMPLE.strip()):
        return _wrapped(text, width, "  ", "  ")
    words = text.removeprefix(EXAMPLE.strip()).strip()
    lines = _wrapped(EXAMPLE + words, width - 2, "  ", " " * 6)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def usage(command: Any, ctx: Any) -> str:
    params = [param for param in command.get_params(ctx) if is_argument(param)]
    pieces = [name_of(param) if param.required else f"[{name_of(param)}]" for param in params]
    pieces += ["COMMAND ..."] if getattr(command, "commands", {}) else []
    return " ".join(["Usage:", ctx.command_path, "[OPTIONS]", *pieces])


def is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def name_of(param: Any) -> str:
    """What stands for a value: N, FILE."""
    return (param.metavar or param.name.upper()).strip("[]")


def spelled(option: Any) -> str:
    """An option as it is written: --mesh, --ranks N."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if getattr(option, "is_flag", False) else f"{names} {name_of(option)}"


def meaning(param: Any) -> str:
    """What a parameter is for, with its default and range."""
    facts = [fact for fact in (_default(param), _range(param)) if fact]
    facts += ["required"] if param.required else []
    return (param.help or "") + (f" [{'; '.join(facts)}]" if facts else "")


def _default(param: Any) -> str:
    value = param.default
    nothing = value is None or value is False or value == "" or callable(value)
    if nothing or not getattr(param, "show_default", False):
        return ""
    return f"default: {value:g}" if isinstance(value, float) else f"default: {value}"


def _range(param: Any) -> str:
    least, most = getattr(param, "min", None), getattr(param, "max", None)
    if least is None and most is None:
        return ""
    if most is None:
        return f"at least {least:g}"
    return f"{least:.0f} to {most:.0f}" if least is not None else f"at most {most:g}"


def first_line(command: Any) -> str:
    return " ".join(paragraphs(command)[0].split())


def _section(console: Console, title: str, rows: list[tuple[str, str]], width: int) -> None:
    """Names to the left, what they mean beside them."""
    if not rows:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for name, meaning in rows:
        lines = _wrapped(meaning, width, " " * (LEFT + 2), " " * (LEFT + 2))
        if len(name) < LEFT and lines:
            lines[0] = lines[0][2 + len(name) :]
            console.print(Text("  ").append(name, "cyan").append(lines.pop(0)), soft_wrap=True)
        else:
            console.print(Text("  ").append(name, "cyan"), soft_wrap=True)
        _print(console, lines)


def _wrapped(text: str, width: int, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _print(console: Console, lines: list[str], style: str = "") -> None:
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)
