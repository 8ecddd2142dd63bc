// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/same_mpi.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "base/error.hpp"
#include "mpi/library_version.hpp"
#include "mpi/world.hpp"

// What handles of communicators point to in the standard ABI (MPI 5.0, chapter 20).
struct MPI_ABI_Comm;

namespace tonari {
namespace {

#ifdef OPEN_MPI
constexpr MpiFamily own_abi = MpiFamily::open_mpi;
#else
constexpr MpiFamily own_abi = std::is_same_v<MPI_Comm, int> ? MpiFamily::mpich : MpiFamily::unknown;
#endif
constexpr MpiFamily compiled_for =
    std::is_same_v<MPI_Comm, MPI_ABI_Comm*> ? MpiFamily::standard_abi : own_abi;

const char* words_for(MpiFamily family) {
  switch (family) {
    case MpiFamily::open_mpi:
      return "Open MPI";
    case MpiFamily::mpich:
      return "MPICH or a relative of it";
    case MpiFamily::standard_abi:
      return "the standard ABI of MPI 5";
    case MpiFamily::unknown:
      break;
  }
  return "an unknown MPI";
}

// What MPIs say of themselves, versions and all, is long: the first words are enough.
std::string first_words(const std::string& version) {
  std::string words;
  for (const char c : version.substr(0, version.find_first_of(",\n"))) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) words += c;
    if (blank && !words.empty() && words.back() != ' ') words += ' ';
  }
  return words;
}

// The shared library or program that has this function, by its first address.
template <class Function>
const void* home_of(Function* function) {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(function), &info) ? info.dli_fbase : nullptr;
}

// MPI_Abi_get_version came with MPI 5.0; MPIs with an ABI of their own return -1. Where libtonari
// brings another MPI along, it comes from that one, which is not the one that our calls get to.
bool runs_standard_abi() {
  using GetVersion = int(int*, int*);
  const auto get_version =
      reinterpret_cast<GetVersion*>(dlsym(RTLD_DEFAULT, "MPI_Abi_get_version"));
  int version = 0, subversion = 0;
  return get_version && get_version(&version, &subversion) == MPI_SUCCESS && version > 0 &&
         home_of(get_version) == home_of(&MPI_Get_library_version);
}

bool mpi_initialized() {
  int flag = 0;
  return MPI_Initialized(&flag) == MPI_SUCCESS && flag;
}

// Set once: also after MPI_Session_finalize, of which nobody tells.
std::atomic<bool> sessions{false};

// No MPI has a communicator whose word is zero.
bool of_a_session(MPI_Comm comm) {
  return (std::intptr_t)(comm) != 0 && comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD &&
         comm != MPI_COMM_SELF;
}

// Found out once; empty if all is well.
const std::string& other_mpi() {
  static const std::string sentence = [] {
    std::string found = wrong_mpi(compiled_for, running_family(), library_version());
    if (!found.empty()) std::fprintf(stderr, "tonari: error: %s\n", found.c_str());
    return found;
  }();
  return sentence;
}

}  // namespace

MpiFamily family_of(std::string_view version) {
  constexpr auto npos = std::string_view::npos;
  for (const char* name : {"Open MPI", "IBM Spectrum MPI", "FUJITSU MPI"})
    if (version.find(name) != npos) return MpiFamily::open_mpi;
  for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (version.find(name) != npos) return MpiFamily::mpich;
  return MpiFamily::unknown;
}

MpiFamily compiled_family() { return compiled_for; }

MpiFamily running_family() {
  return runs_standard_abi() ? MpiFamily::standard_abi : family_of(library_version());
}

std::string other_mpi_than(MpiFamily compiled, MpiFamily running, const std::string& version) {
  if (compiled == MpiFamily::unknown || running == MpiFamily::unknown || compiled == running)
    return "";
  const char* abi = running == MpiFamily::standard_abi ? ", by the standard ABI of MPI 5" : "";
  return text("was built for ", words_for(compiled), ", but the program runs with ",
              first_words(version), abi);
}

std::string wrong_mpi(MpiFamily compiled, MpiFamily running, const std::string& version) {
  const std::string difference = other_mpi_than(compiled, running, version);
  if (difference.empty()) return "";
  return text("this libtonari ", difference,
              "; link it with a libtonari that was built for that MPI");
}

void note_session(MPI_Comm comm) {
  if (of_a_session(comm) && !world_runs()) sessions.store(true, std::memory_order_relaxed);
}

// Open MPI numbers the world's communicators from 0 on: world, self, null. Elsewhere numbers and
// handles have the same bits.
bool is_number_of_session(int number) {
  if (!other_mpi().empty() || mpi_initialized()) return false;
  if constexpr (compiled_for == MpiFamily::open_mpi) return number > 2;
  const auto bits = [](MPI_Comm comm) { return (std::intptr_t)(comm); };
  return number != static_cast<int>(bits(MPI_COMM_WORLD)) &&
         number != static_cast<int>(bits(MPI_COMM_SELF)) &&
         number != static_cast<int>(bits(MPI_COMM_NULL));
}

void require_same_mpi(MPI_Comm comm) {
  if (!other_mpi().empty()) fail(Errc::mpi, other_mpi());
  note_session(comm);
  if (!of_a_session(comm) && !mpi_initialized())
    fail(Errc::mpi, "MPI is not initialized; call MPI_Init first (this libtonari was built for ",
         words_for(compiled_for), ")");
}

bool is_same_mpi() { return other_mpi().empty() && (mpi_initialized() || sessions_proved()); }

bool sessions_proved() { return sessions.load(std::memory_order_relaxed); }

}  // namespace tonari
