# SPDX-License-Identifier: BSD-3-Clause
"""Text that is read and written is the same in every locale: usage: locales.py SOURCE_ROOT

A program may call setlocale or std::locale::global. So the library and its headers use from_chars,
to_chars and what is in src/base/classic.hpp, and none of the functions that obey a locale."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

RULES = {
    r"\b(strtod|strtof|strtold|atof|stod|stof|stold)\s*\(": "from_chars, or real_number",
    r"\b(tolower|toupper|isalpha|isalnum|isspace|ispunct|isupper|islower)\s*\(": "ranges of ASCII",
    r"\bto_string\((?:static_cast<(?:double|float)>|[^()]*[\d ]\.\d)": "text, or with_decimals",
    r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?L?[aefgAEFG](?![A-Za-z])": "%s and with_decimals",
    r"\bstd::(?:[io]?stringstream|[io]fstream|fstream)\s+\w": "Classic<...>",
}
# Streams that read lines and bytes only, and the one that reads in the locale of C.
STREAMS_OF_BYTES = {
    "include/tonari/matrix_file.hpp",
    "include/tonari/matrix/market.hpp",
    "include/tonari/matrix/number_text.hpp",
}
FOLDERS = ("src", "include", "python/src")
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}


def wrong(line: str, streams_too: bool = True) -> str:
    """What the line should use instead; empty if it may stay."""
    code = re.sub(r"//.*|/\*.*?\*/", "", line)
    for pattern, instead in RULES.items():
        if re.search(pattern, code) and (streams_too or not instead.startswith("Classic")):
            return instead
    return ""


def problems(root: Path) -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if instead := wrong(line, name not in STREAMS_OF_BYTES):
                    yield f"{name}:{number}: {line.strip()} obeys the locale; use {instead}"


def selftest() -> None:
    for line in (
        "value = std::strtod(word, &end);",
        "c = std::tolower(c);",
        'fprintf(file, "%.3f", x);',
        'printf("%g\\n", x);',
        "std::ostringstream out;",
        "  std::ifstream in(path);",
        "std::to_string(static_cast<double>(n))",
    ):
        assert wrong(line), line
    for line in (
        "Classic<std::ostringstream> out;",
        'fprintf(file, "%s %d 100%", x, y);',
        'std::fprintf(f, "\\"%016" PRIx64, key);',
        "std::to_string(n)",
        "// strtod( in a comment",
        "use(std::ostringstream& out);",
    ):
        assert not wrong(line), line


def main(root: Path) -> int:
    selftest()
    found = list(problems(root))
    print("\n".join(found))
    return bool(found)


sys.exit(main(Path(sys.argv[1])))
