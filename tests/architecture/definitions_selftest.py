# SPDX-License-Identifier: BSD-3-Clause
"""The check of definitions notices what it is for."""

from definitions import problems
from tell_apart import tell_apart

HEADER = ("include/tonari/a.h", "TONARI_API int tonari_f_init(const void* buf, int count);")
RIGHT = [
    ("src/api/a.cpp", 'extern "C" int tonari_f_init(const void* buf, int count) { return 0; }'),
    ("src/api/a.cpp", 'extern "C" int tonari_f_init(const void* buf,\n    int count) {\n}'),
    ("src/api/a.c", "int tonari_f_init(const void* buf, int count) {\n  return 0;\n}"),
]
TAKES = "(const void* buf, int count) { return 0; }"
WRONG = [
    ("src/api/a.cpp", f"#define MAKE(name) int tonari_##name##_init{TAKES}\nMAKE(f)"),
    ("src/api/a.cpp", f"#define MAKE(name) \\\n  int name{TAKES}\nMAKE(tonari_f_init)"),
    ("src/api/a.cpp", f"#define MAKE \\\nint tonari_f_init{TAKES}\nMAKE"),
    ("src/api/a.cpp", f"/*\nint tonari_f_init{TAKES}\n*/"),
    ("src/api/a.cpp", "int tonari_f_init(const void* buf, int count);"),
    ("src/api/a.cpp", "int f() {\n  return tonari_f_init(nullptr, 0);\n}"),
    ("src/api/a.cpp", f"int tonari_f_init_c{TAKES}"),
]

tell_apart(problems, RIGHT, WRONG, "definitions", beside=HEADER)
