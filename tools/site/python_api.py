# SPDX-License-Identifier: BSD-3-Clause
"""The reference of tonari.mpi, read from its sources: it cannot be imported without an MPI."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef


def public(package: Path) -> Iterator[ast.ClassDef | Function]:
    """What __init__.py lists in __all__, in that order."""
    found: dict[str, ast.ClassDef | Function] = {}
    for file in sorted(package.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, Function)):
                found.setdefault(node.name, node)
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (found[name] for name in ast.literal_eval(node.value) if name in found)


def reference(package: Path) -> str:
    return "\n\n".join(part for node in public(package) for part in entry(node))


def entry(node: ast.ClassDef | Function) -> Iterator[str]:
    """A heading, how it is called, and what it says of itself; then what a class has. All of it is
    plain text to the site, which would warn of prose in code."""
    yield f"## {node.name}"
    if isinstance(node, Function):
        yield fence(f"{signature(node)}\n\n{ast.get_docstring(node) or ''}")
        return
    methods = [part for part in node.body if isinstance(part, Function)]
    init = next((m for m in methods if m.name == "__init__" and node.name != "Request"), None)
    called = signature(init, node.name) if init else f"class {node.name}"
    yield fence(f"{called}\n\n{ast.get_docstring(node) or ''}")
    own = [method for method in methods if not method.name.startswith("_")]
    if own:
        yield fence("\n\n".join(f"{signature(method)}\n{indented(method)}" for method in own))


def signature(node: Function, name: str = "") -> str:
    """As it is called: without self or cls."""
    arguments = node.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args = arguments.args[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and not name else ""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    if "property" in marks:
        return f"{node.name}{returns}"
    return f"{name or node.name}({ast.unparse(arguments)}){returns}"


def indented(node: Function) -> str:
    text = ast.get_docstring(node) or ""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def fence(text: str) -> str:
    return f"```text\n{text.strip()}\n```"
