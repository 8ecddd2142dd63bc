// SPDX-License-Identifier: BSD-3-Clause
#include "channels/same_mpi.hpp"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <type_traits>

#include "base/error.hpp"

namespace tonari {
namespace {

// The standard ABI of MPI 5.0 has pointers, too, and does not define OPEN_MPI.
#ifdef OPEN_MPI
constexpr MpiFamily compiled_for = MpiFamily::open_mpi;
#else
constexpr MpiFamily compiled_for =
    std::is_same_v<MPI_Comm, int> ? MpiFamily::mpich : MpiFamily::unknown;
#endif

const char* words_for(MpiFamily family) {
  switch (family) {
    case MpiFamily::open_mpi:
      return "Open MPI";
    case MpiFamily::mpich:
      return "MPICH or a relative of it";
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

// More than any MPI writes. It is not MPI_MAX_LIBRARY_VERSION_STRING of the mpi.h that this was
// compiled with, which is 256 for Open MPI, and 8,192 for MPICH.
constexpr std::size_t longest_version = 16384;

// MPI_Get_library_version and MPI_Initialized may be called at any time.
std::string running_version() {
  std::array<char, longest_version> version{};
  int length = 0;
  if (MPI_Get_library_version(version.data(), &length) != MPI_SUCCESS) return "";
  return version.data();
}

bool mpi_initialized() {
  int flag = 0;
  return MPI_Initialized(&flag) == MPI_SUCCESS && flag;
}

// Found out once; empty if all is well.
const std::string& other_mpi() {
  static const std::string sentence = [] {
    std::string found = wrong_mpi(compiled_for, running_version());
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

std::string wrong_mpi(MpiFamily compiled, const std::string& version) {
  const MpiFamily running = family_of(version);
  if (compiled == MpiFamily::unknown || running == MpiFamily::unknown || compiled == running)
    return "";
  return text("this libtonari was built for ", words_for(compiled), ", but the program runs with ",
              first_words(version), "; link it with a libtonari that was built for that MPI");
}

void require_same_mpi() {
  if (!other_mpi().empty()) fail(Errc::mpi, other_mpi());
  if (!mpi_initialized())
    fail(Errc::mpi, "MPI is not initialized; call MPI_Init first (this libtonari was built for ",
         words_for(compiled_for), ")");
}

bool is_same_mpi() { return other_mpi().empty() && mpi_initialized(); }

}  // namespace tonari
