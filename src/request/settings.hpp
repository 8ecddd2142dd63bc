// SPDX-License-Identifier: BSD-3-Clause
// Settings of a neighborhood or a request. Info keys override inherited ones, and environment
// variables override both.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "base/setting.hpp"
#include "planners/in_place/order.hpp"
#include "select/candidates.hpp"

namespace tonari {

// The value from the environment, otherwise from the info, otherwise nothing. It is checked if the
// row lists its values.
std::optional<std::string> lookup(MPI_Info info, SettingId id);

// Throws Errc::argument for a key that begins with `tonari_` but does not exist.
void check_keys(MPI_Info info);
// And for all others but this one.
void check_keys(MPI_Info info, SettingId only);

// Collective, after ranks were found to have different settings. Throws Errc::mismatch on all
// ranks, with a setting, two ranks and their values.
[[noreturn]] void fail_on_different_settings(MPI_Comm comm, MPI_Info info);

// Throws Errc::argument or Errc::algorithm with the key that is wrong.
Settings read_settings(MPI_Info info, Settings inherited);

// The same, with what is promised for all exchanges on the neighborhood.
Settings read_neighborhood_settings(MPI_Info info);

struct InPlaceSettings {
  std::optional<SwapOrder> order;  // nothing means auto
  bool order_by_key = false;       // by the program, not by the environment alone
  std::string channel = "auto";    // or shared, p2p-packed
  Tune tune = Tune::automatic;
  Bytes memory = 1 << 20;  // may differ between ranks, like timeout
  double timeout = 10;
  bool progress_thread = false;
  std::uint64_t fingerprint() const;  // of the members that must not differ
  bool operator==(const InPlaceSettings&) const = default;
};

// Reads those of an in-place exchange. Throws Errc::argument or Errc::algorithm with the key that
// is wrong.
InPlaceSettings read_in_place_settings(MPI_Info info);

}  // namespace tonari
