// SPDX-License-Identifier: BSD-3-Clause
// libtonari calls MPI_X, as programs do that want to be profiled, and so do its files that are a
// part of this library. Below a program that was not changed they are a part of the MPI, whose own
// messages no tool counts. So the calls of both libraries are bound to PMPI_X here, before anybody
// calls them: in the tables of addresses that the linker fills.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <tonari/tonari.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace tonari::preload {
namespace {

using Address = ElfW(Addr);
using Relocation = ElfW(Rela);
#if __SIZEOF_POINTER__ == 8
std::size_t symbol_of(const Relocation& one) { return ELF64_R_SYM(one.r_info); }
#else
std::size_t symbol_of(const Relocation& one) { return ELF32_R_SYM(one.r_info); }
#endif

// Of a loaded library: what the linker knows of it.
struct Library {
  Address base = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  Address protected_from = 0, protected_to = 0;  // whole pages that are read-only by now

  // glibc's loader writes addresses there; musl's leaves what is in the file.
  template <class Entry>
  const Entry* table(ElfW(Sxword) tag) const {
    const Address at = number(tag);
    return at ? reinterpret_cast<const Entry*>(at < base ? at + base : at) : nullptr;
  }
  Address number(ElfW(Sxword) tag) const {
    for (const auto* row = dynamic; row->d_tag != DT_NULL; ++row)
      if (row->d_tag == tag) return row->d_un.d_ptr;
    return 0;
  }
};

bool has(const dl_phdr_info& library, Address inside) {
  for (int k = 0; k < library.dlpi_phnum; ++k) {
    const auto& part = library.dlpi_phdr[k];
    const Address begin = library.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && inside >= begin && inside < begin + part.p_memsz) return true;
  }
  return false;
}

// An address, and the library that has it.
struct Owner {
  Address inside;
  Library found;
};

int take_owner(dl_phdr_info* library, std::size_t, void* owner) {
  auto& [inside, found] = *static_cast<Owner*>(owner);
  if (!has(*library, inside)) return 0;
  const Address page = static_cast<Address>(sysconf(_SC_PAGESIZE));
  found.base = library->dlpi_addr;
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const auto& part = library->dlpi_phdr[k];
    const Address begin = found.base + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) found.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (part.p_type != PT_GNU_RELRO) continue;
    found.protected_from = begin / page * page;
    found.protected_to = (begin + part.p_memsz) / page * page;
  }
  return 1;
}

bool protect(const Library& library, int how) {
  const std::size_t bytes = library.protected_to - library.protected_from;
  return !bytes || mprotect(reinterpret_cast<void*>(library.protected_from), bytes, how) == 0;
}

// PMPI_X of an MPI_X; null where there is none, as for MPI_UNWEIGHTED.
void* profiled(const char* name) {
  if (std::strncmp(name, "MPI_", 4) != 0 && std::strncmp(name, "MPIX_", 5) != 0) return nullptr;
  return dlsym(RTLD_NEXT, ("P" + std::string(name)).c_str());
}

void bind(const Library& library, ElfW(Sxword) tag, Address bytes) {
  const auto* const relocations = library.table<Relocation>(tag);
  const auto* const symbols = library.table<ElfW(Sym)>(DT_SYMTAB);
  const auto* const names = library.table<char>(DT_STRTAB);
  if (!relocations || !symbols || !names) return;
  for (std::size_t k = 0; k < bytes / sizeof(Relocation); ++k) {
    const Relocation& one = relocations[k];
    void* const to = profiled(names + symbols[symbol_of(one)].st_name);
    if (to && one.r_addend == 0) *reinterpret_cast<void**>(library.base + one.r_offset) = to;
  }
}

void bind_library_with(Address inside) {
  Owner owner{inside, {}};
  dl_iterate_phdr(take_owner, &owner);
  const Library& found = owner.found;
  if (!found.dynamic || !protect(found, PROT_READ | PROT_WRITE)) return;
  if (found.number(DT_PLTREL) == DT_RELA) bind(found, DT_JMPREL, found.number(DT_PLTRELSZ));
  bind(found, DT_RELA, found.number(DT_RELASZ));
  (void)protect(found, PROT_READ);
}

constexpr char in_this_library = 0;

__attribute__((constructor)) void bind_calls() {
  bind_library_with(reinterpret_cast<Address>(&tonari_version));
  bind_library_with(reinterpret_cast<Address>(&in_this_library));
}

}  // namespace
}  // namespace tonari::preload
