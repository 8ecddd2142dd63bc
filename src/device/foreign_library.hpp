// SPDX-License-Identifier: BSD-3-Clause
// A library of a vendor that is opened at run time, and functions of it by their names. So one
// binary runs with and without that library, and no header of the vendor is needed to build it.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "base/error.hpp"

namespace tonari {

class ForeignLibrary {
 public:
  // What a function's result means that is not 0, as an error.
  using Meaning = std::function<Error(const char* function, int result)>;

  // Opens the first of these files that the dynamic linker finds. It stays open: drivers have
  // threads. Throws Errc::argument with this sentence, and why the last one could not be opened.
  ForeignLibrary(std::initializer_list<std::string> files, const std::string& without,
                 Meaning meaning);
  ForeignLibrary(const ForeignLibrary&) = delete;
  ForeignLibrary& operator=(const ForeignLibrary&) = delete;

  // Throws Errc::argument if the library has no such function.
  void* find(const char* function) const;
  [[noreturn]] void fail(const char* function, int result) const {
    throw meaning_(function, result);
  }

 private:
  std::string file_;
  void* handle_ = nullptr;
  Meaning meaning_;
};

template <class Signature>
class ForeignFunction;

// A function whose result is 0 where it did what it should.
template <class... Arguments>
class ForeignFunction<int(Arguments...)> {
 public:
  using Signature = int(Arguments...);
  ForeignFunction(const ForeignLibrary& library, const char* name)
      : library_(library),
        name_(name),
        function_(reinterpret_cast<Signature*>(library.find(name))) {}

  void operator()(Arguments... arguments) const { check(function_(arguments...)); }
  // For results that are answers, too. `check` throws what is none.
  int result(Arguments... arguments) const { return function_(arguments...); }
  void check(int result) const {
    if (result != 0) library_.fail(name_, result);
  }

 private:
  const ForeignLibrary& library_;
  const char* name_;
  Signature* function_;
};

}  // namespace tonari
