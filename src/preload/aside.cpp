// SPDX-License-Identifier: BSD-3-Clause
#include "preload/aside.hpp"

#include <link.h>
#include <tonari/tonari.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "channels/library_version.hpp"
#include "channels/same_mpi.hpp"

namespace tonari::preload {
namespace {

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// Where the code of libtonari lies.
struct Range {
  std::uintptr_t low = 0, high = 0;
  bool has(std::uintptr_t at) const { return at >= low && at < high; }
};

int take_if_it_has_version(dl_phdr_info* library, std::size_t, void* result) {
  Range all{UINTPTR_MAX, 0};
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const auto& part = library->dlpi_phdr[k];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t low = library->dlpi_addr + part.p_vaddr;
    all = {all.low < low ? all.low : low, low + part.p_memsz};
  }
  if (!all.has(address(reinterpret_cast<const void*>(&tonari_version)))) return 0;
  *static_cast<Range*>(result) = all;
  return 1;
}

Range find_libtonari() {
  Range found;
  dl_iterate_phdr(take_if_it_has_version, &found);
  return found;
}

// As launchers tell it: MPI's own numbers need a handle.
bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::string(rank) == "0";
  return true;
}

bool ask_which_mpi() {
  const std::string other = other_mpi_than(compiled_family(), running_family(), library_version());
  if (!other.empty() && is_first_rank())
    std::fprintf(stderr, "tonari: warning: this libtonari_preload %s; it steps aside\n",
                 other.c_str());
  return !other.empty();
}

}  // namespace

bool wrong_mpi_runs() {
  static const bool wrong = ask_which_mpi();
  return wrong;
}

bool from_tonari(const void* site) {
  static const Range libtonari = find_libtonari();
  return libtonari.has(address(site));
}

}  // namespace tonari::preload
