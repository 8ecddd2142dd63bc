// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in place and of ghosts for Python, as schedules that are simulated.
#pragma once

#include <nanobind/nanobind.h>

namespace tonari {

// swap_partners(), swap_schedule(), HaloCube, halo_messages() and halo_schedule(). After the
// classes Schedule and LogGP.
void bind_exchange_schedules(nanobind::module_& m);

}  // namespace tonari
