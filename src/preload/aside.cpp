// SPDX-License-Identifier: BSD-3-Clause
#include "preload/aside.hpp"

#include <dlfcn.h>
#include <link.h>
#include <tonari/tonari.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "memory/launched_ranks.hpp"
#include "mpi/library_version.hpp"
#include "mpi/same_mpi.hpp"

namespace tonari::preload {
namespace {

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// Where a library lies.
struct Range {
  std::uintptr_t low = 0, high = 0;
  bool has(std::uintptr_t at) const { return at >= low && at < high; }
};

// What is looked for, and the library that has it.
struct Search {
  std::uintptr_t inside;
  Range found;
};

int take_if_inside(dl_phdr_info* library, std::size_t, void* search) {
  auto& [inside, found] = *static_cast<Search*>(search);
  Range all{UINTPTR_MAX, 0};
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const auto& part = library->dlpi_phdr[k];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t low = library->dlpi_addr + part.p_vaddr;
    all = {all.low < low ? all.low : low, low + part.p_memsz};
  }
  if (!all.has(inside)) return 0;
  found = all;
  return 1;
}

Range library_with(const void* inside) {
  Search search{address(inside), {}};
  dl_iterate_phdr(take_if_inside, &search);
  return search.found;
}

constexpr char own_place = 0;

// libtonari_preload or libtonari_advise.
std::string own_name() {
  Dl_info own{};
  if (!dladdr(&own_place, &own) || !own.dli_fname) return "library";
  const std::string_view file = own.dli_fname;
  const std::string_view name = file.substr(file.find_last_of('/') + 1);
  return std::string(name.substr(0, name.find('.')));
}

bool ask_which_mpi() {
  const std::string other = other_mpi_than(compiled_family(), running_family(), library_version());
  if (!other.empty() && launched_rank() == 0)  // MPI's own numbers need a handle
    std::fprintf(stderr,
                 "tonari: warning: this %s %s; it steps aside; run the program with the `tonari` "
                 "that was built for that MPI\n",
                 own_name().c_str(), other.c_str());
  return !other.empty();
}

}  // namespace

bool all_calls_pass() {
  static const bool another = ask_which_mpi();
  return another;
}

bool not_from_program(const void* site) {
  static const Range libtonari = library_with(reinterpret_cast<const void*>(&tonari_version));
  static const Range own = library_with(&own_place);
  return !site || libtonari.has(address(site)) || own.has(address(site));
}

bool from_mpi(const void* site) {
  static const Range mpi = library_with(dlsym(RTLD_NEXT, "PMPI_Wait"));
  return mpi.has(address(site));
}

}  // namespace tonari::preload
