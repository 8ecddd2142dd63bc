# SPDX-License-Identifier: BSD-3-Clause
"""The include check notices what it is for."""

from includes import problems
from tell_apart import tell_apart

RIGHT = [
    ("src/plan/a.hpp", '#include "base/b.hpp"'),
    ("src/plan/a.hpp", '#include "plan/b.hpp"'),
    ("src/request/a.cpp", '#include "tonari/tonari.h"'),
    ("src/request/a.cpp", "#include <mpi.h>"),
    ("src/engine/wait/a.hpp", '#include "channels/b.hpp"'),
    ("src/plan/a.hpp", '// see "planners/emit.hpp"'),
]
WRONG = [
    ("src/topology/a.hpp", '#include "plan/b.hpp"'),  # sibling
    ("src/plan/a.cpp", '#  include "planners/offsets/b.hpp"'),  # upwards
    ("src/channels/a.hpp", '#include "engine/run/b.hpp"'),
    ("src/engine/comm/a.hpp", '#include "engine/run/b.hpp"'),  # upwards in the engine
    ("src/select/a.cpp", "#include <mpi.h>"),  # MPI in the core
    ("src/select/a.cpp", '#include "tonari/tonari.h"'),
    ("src/plan/a.cpp", '#include "../planners/b.hpp"'),
    ("src/plan/a.cpp", '#include "b.hpp"'),
    ("src/attic/a.cpp", ""),  # a room nobody listed
]

tell_apart(problems, RIGHT, WRONG, "includes")
