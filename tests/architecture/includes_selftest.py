"""The include check notices what it is for."""

import tempfile
from pathlib import Path

from includes import problems

RIGHT = [
    ("plan/a.hpp", '#include "base/b.hpp"'),
    ("plan/a.hpp", '#include "plan/b.hpp"'),
    ("api/a.cpp", '#include "tonari/tonari.h"'),
    ("api/a.cpp", "#include <mpi.h>"),
    ("engine/a.hpp", '#include "channels/b.hpp"'),
    ("plan/a.hpp", '// see "planners/emit.hpp"'),
]
WRONG = [
    ("topology/a.hpp", '#include "plan/b.hpp"'),  # sibling
    ("plan/a.cpp", '#  include "planners/offsets/b.hpp"'),  # upwards
    ("channels/a.hpp", '#include "engine/b.hpp"'),
    ("select/a.cpp", "#include <mpi.h>"),  # MPI in the core
    ("select/a.cpp", '#include "tonari/tonari.h"'),
    ("plan/a.cpp", '#include "../planners/b.hpp"'),
    ("plan/a.cpp", '#include "b.hpp"'),
    ("attic/a.cpp", ""),  # a room nobody listed
]


def complaints(name: str, line: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "src" / name
        path.parent.mkdir(parents=True)
        path.write_text(line + "\n")
        return list(problems(Path(folder)))


for name, line in RIGHT:
    assert not complaints(name, line), (name, line)
for name, line in WRONG:
    assert complaints(name, line), (name, line)
with tempfile.TemporaryDirectory() as empty:
    assert list(problems(Path(empty)))
print(f"{len(RIGHT)} right and {len(WRONG)} wrong includes told apart")
