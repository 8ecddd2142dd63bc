// SPDX-License-Identifier: BSD-3-Clause
// Settings of a call. Info keys override inherited ones, and environment
// variables override both.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/setting_table.hpp"

namespace tonari {

// The value of the info key, if there is one.
std::optional<std::string> value_of(MPI_Info info, const Setting& row);

// Throws Errc::argument for a key that begins with `tonari_` but does not exist.
void check_keys(MPI_Info info);
// And for all others but this one, which it reads.
Settings read_only(MPI_Info info, const Setting& only);

// Collective, after ranks were found to have different settings. Throws Errc::mismatch on all
// ranks, with a setting, two ranks and their values.
[[noreturn]] void fail_on_different_settings(MPI_Comm comm, MPI_Info info);

// Reads all that such calls read. Throws Errc::argument or Errc::algorithm with the key that is
// wrong.
Settings read_settings(MPI_Info info, Where calls = where::any_request, Settings inherited = {});

// What an object keeps of them.
struct KeptSettings {
  KeptSettings() = default;
  explicit KeptSettings(Settings read) : settings(std::move(read)) {}
  Settings settings;
  std::uint64_t print = fingerprint(settings);
};
// The same for calls that make an object; the variables are those that such calls read. All objects
// share one where nothing is set.
std::shared_ptr<const KeptSettings> read_kept_settings(MPI_Info info, Where calls,
                                                       const Variables& variables);

}  // namespace tonari
