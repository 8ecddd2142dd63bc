// SPDX-License-Identifier: BSD-3-Clause
#include "device/foreign_library.hpp"

#include <dlfcn.h>

namespace tonari {

ForeignLibrary::ForeignLibrary(std::initializer_list<std::string> files, const std::string& without,
                               Meaning meaning)
    : meaning_(std::move(meaning)) {
  for (const std::string& file : files) {
    file_ = file;
    handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return;
  }
  const char* const why = ::dlerror();
  tonari::fail(Errc::argument, without, " (", why ? why : "it cannot be opened", ")");
}

void* ForeignLibrary::find(const char* function) const {
  if (void* const found = ::dlsym(handle_, function)) return found;
  tonari::fail(Errc::argument, file_, " has no function ", function,
               ", so it is too old; install a newer one");
}

}  // namespace tonari
