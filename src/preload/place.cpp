// SPDX-License-Identifier: BSD-3-Clause
#include "preload/place.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tonari::preload {

Place place_of(const void* site) {
  Dl_info info{};
  void* loaded = nullptr;
  if (!dladdr1(site, &info, &loaded, RTLD_DL_LINKMAP) || !info.dli_fname) return {};
  // A call returns behind itself: the byte before belongs to it.
  const auto at = reinterpret_cast<std::uintptr_t>(site) - 1;
  return {info.dli_fname, at - static_cast<const link_map*>(loaded)->l_addr};
}

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) all += c;
  }
  return all;
}

std::string file_of_this_process(const std::string& folder) {
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  return folder + "/" + host.data() + "." + std::to_string(getpid()) + ".jsonl";
}

void say_not_written(const Setting& row, const std::string& folder) {
  std::fprintf(
      stderr,
      "tonari: warning: %s is '%s', where the records of this rank cannot be written (%s); "
      "it must be %s that exists\n",
      row.variable, folder.c_str(), std::strerror(errno), row.values);
}

}  // namespace tonari::preload
