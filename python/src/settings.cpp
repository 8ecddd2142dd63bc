// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/setting_table.hpp"

namespace nb = nanobind;

namespace tonari {

void bind_settings(nb::module_& m) {
  nb::class_<Setting>(m, "Setting",
                      "A setting of the library: an info key, an environment variable, or both.")
      .def_prop_ro(
          "key", [](const Setting& s) { return s.key; }, "Info key; empty if there is none.")
      .def_prop_ro(
          "variable", [](const Setting& s) { return s.variable; },
          "Environment variable; empty if there is none.")
      .def_prop_ro("values", [](const Setting& s) { return s.values; })
      .def_prop_ro("default", [](const Setting& s) { return s.standard; })
      .def_prop_ro(
          "where", [](const Setting& s) { return where_of(s); }, "What reads it.")
      .def_prop_ro(
          "alike", [](const Setting& s) { return s.affects != Affects::rank; },
          "Whether it must be the same on all ranks.")
      .def_prop_ro("help", [](const Setting& s) { return s.help; });
  m.def(
      "settings",
      [] {
        std::vector<const Setting*> rows;
        for (const Setting& row : all_settings()) rows.push_back(&row);
        return rows;
      },
      nb::rv_policy::reference, "All settings, in the order in which they are documented.");
}

}  // namespace tonari
