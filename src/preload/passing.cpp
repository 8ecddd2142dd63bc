// SPDX-License-Identifier: BSD-3-Clause
#include "preload/passing.hpp"

namespace tonari::preload {

__attribute__((tls_model("initial-exec"))) thread_local constinit Inside::Mark Inside::now_{};

}  // namespace tonari::preload
