# SPDX-License-Identifier: BSD-3-Clause
"""The check of definitions notices what it is for."""

from definitions import problems, problems_in_front
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

tell_apart(problems, RIGHT, WRONG, "definitions", HEADER)

LIST = ("src/preload/symbols.txt", "# about\nMPI_F preload always\nmpi_f_f08ts_ advise always")
TAGS = (".ctags.d/tonari.ctags", "-DTONARI_A(name,...)=int name() {}")
FORTRAN = ("src/watch/fortran.cpp", "TONARI_A(mpi_f, 2)")
FRONT = [
    ("src/preload/a.cpp", "TONARI_A(MPI_F, (void* request), call(request));"),
    ("src/preload/a.cpp", "TONARI_A(\n    MPI_F, (void* request), call(request));"),
    ("src/preload/a.cpp", 'extern "C" VISIBLE int MPI_F(void* request) {\n}'),
]
PASTED = [
    ("src/preload/a.cpp", "#define TONARI_B(name) TONARI_A(MPI_##name, ())\nTONARI_B(F);"),
    ("src/preload/a.cpp", "#define TABLE \\\nTONARI_A(MPI_F, ())\nTABLE"),
    ("src/preload/a.cpp", "TONARI_B(MPI_F, (void* request), call(request));"),  # ctags knows no B
    ("src/preload/a.cpp", "// TONARI_A(MPI_F, (void* request), call(request));"),
]
tell_apart(problems_in_front, FRONT, PASTED, "functions in front", LIST, TAGS, FORTRAN)
