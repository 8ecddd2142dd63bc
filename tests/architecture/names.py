# SPDX-License-Identifier: BSD-3-Clause
"""No two headers of src/ define a type of one name: usage: names.py SOURCE_ROOT. All are in one
namespace, and the linker takes one for the other in silence."""

import re
import sys
from collections import defaultdict
from pathlib import Path

from rooms import sources

TYPE = re.compile(r"^(?:struct|class|enum class)\s+(\w+)\b[^;]*(?:\{|$)")
NAMESPACE = re.compile(r"^namespace\s+([\w:]+)\s*\{")


def types(text: str):
    """The types that a header defines at the outermost level, with their namespaces."""
    space = ""
    for line in text.splitlines():
        if named := NAMESPACE.match(line):
            space = named[1]
        elif defined := TYPE.match(line):
            yield f"{space}::{defined[1]}"


def twice(headers: dict[str, str]) -> list[str]:
    found = defaultdict(list)
    for path, text in headers.items():
        for name in set(types(text)):
            found[name].append(path)
    return [
        f"{name} is defined in {' and in '.join(sorted(paths))}"
        for name, paths in sorted(found.items())
        if len(paths) > 1
    ]


def selftest() -> None:
    first, second = (
        "namespace a {\nstruct Run {\n};\n}\n",
        "namespace a {\nclass Run final : public B {\n};\n}\n",
    )
    assert twice({"x.hpp": first, "y.hpp": second}) == ["a::Run is defined in x.hpp and in y.hpp"]
    assert not twice(
        {
            "x.hpp": first,
            "y.hpp": second.replace("namespace a", "namespace b"),
            "z.hpp": "namespace a {\nstruct Run;\n}\n",
        }
    )


if __name__ == "__main__":
    selftest()
    headers = {
        str(path): path.read_text()
        for _, path in sources(Path(sys.argv[1]))
        if path.suffix == ".hpp"
    }
    problems = twice(headers)
    print("\n".join(problems) or f"{len(headers)} headers, no type twice")
    sys.exit(bool(problems) or not headers)
