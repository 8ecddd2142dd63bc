// SPDX-License-Identifier: BSD-3-Clause
#include "preload/origin.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tonari::preload {
namespace {

std::string_view name_of(const Place& place) {
  const std::string_view file = place.file;
  return file.substr(file.rfind('/') + 1);
}

// Of Open MPI, and of MPICH and its relatives.
bool is_fortrans(const Place& place) {
  constexpr std::array<std::string_view, 5> names{"libmpi_mpifh", "libmpi_usempi", "libmpifort",
                                                  "libmpichfort", "libfmpich"};
  return std::ranges::any_of(
      names, [&](std::string_view name) { return name_of(place).starts_with(name); });
}

bool is_mpi4pys(const Place& place) { return name_of(place).starts_with("MPI."); }

// The first place above it that is not Fortran's binding.
Place above_fortran(const void* site) {
  std::array<void*, 16> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  for (auto next = std::find(frames.begin(), end, site); next != end; ++next) {
    const Place place = place_of(*next);
    if (!is_fortrans(place)) return place;
  }
  return place_of(site);
}

// ---- Python's frames, by the functions of the interpreter that runs

template <class Function>
Function* pythons(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

struct Python {
  int (*runs)() = pythons<int()>("Py_IsInitialized");
  int (*lock)() = pythons<int()>("PyGILState_Ensure");
  void (*unlock)(int) = pythons<void(int)>("PyGILState_Release");
  void* (*frame)() = pythons<void*()>("PyEval_GetFrame");
  int (*line)(void*) = pythons<int(void*)>("PyFrame_GetLineNumber");
  void* (*code)(void*) = pythons<void*(void*)>("PyFrame_GetCode");
  void* (*attribute)(void*,
                     const char*) = pythons<void*(void*, const char*)>("PyObject_GetAttrString");
  const char* (*text)(void*) = pythons<const char*(void*)>("PyUnicode_AsUTF8");
  void (*release)(void*) = pythons<void(void*)>("Py_DecRef");
  void (*forget_error)() = pythons<void()>("PyErr_Clear");

  bool is_there() const {
    return runs && lock && unlock && frame && line && code && attribute && text && release &&
           forget_error;
  }
};

std::string text_of(const Python& python, void* object, const char* name) {
  void* const value = python.attribute(object, name);
  const char* const text = value ? python.text(value) : nullptr;
  std::string copied = text ? text : "";
  if (!text) python.forget_error();
  if (value) python.release(value);
  return copied;
}

// The script's own line: mpi4py, which is compiled, has no frame. Empty: it is not known.
Origin of_script() {
  static const Python python;
  Origin origin;
  if (!python.is_there() || !python.runs()) return origin;
  const int locked = python.lock();
  if (void* const frame = python.frame()) {
    origin.line = python.line(frame);
    if (void* const code = python.code(frame)) {
      origin.place.file = text_of(python, code, "co_filename");
      origin.function = text_of(python, code, "co_name");
      python.release(code);
    }
  }
  python.unlock(locked);
  return origin;
}

}  // namespace

Origin origin_of(const void* site) {
  const Place place = place_of(site);
  if (is_fortrans(place)) return {above_fortran(site)};
  if (!is_mpi4pys(place)) return {place};
  const Origin script = of_script();
  return script.line > 0 ? script : Origin{place};
}

}  // namespace tonari::preload
