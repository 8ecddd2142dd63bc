// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include <nanobind/nanobind.h>

#include "base/error.hpp"

namespace nb = nanobind;

namespace tonari {
namespace {

// The class is written in Python, so that it can be caught where the extension is missing.
void raise(const Error& error) {
  try {
    const nb::object type = nb::module_::import_("tonari.errors").attr("Error");
    const nb::object exception = type(error.what(), static_cast<int>(error.code()));
    PyErr_SetObject(type.ptr(), exception.ptr());
  } catch (nb::python_error& e) {
    e.restore();
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace tonari
