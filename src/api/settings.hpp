// Settings of a neighborhood or a request: info keys over inherited ones, environment variables over both.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "inplace/order.hpp"
#include "select/candidates.hpp"

namespace tonari {

// What an environment variable says, else what the info says, else nothing.
std::optional<std::string> lookup(MPI_Info info, const char* key, const char* variable);

// Throws Errc::argument or Errc::algorithm with the key that is wrong.
Settings read_settings(MPI_Info info, Settings inherited);

// With what is promised of all exchanges on the neighborhood.
Settings read_neighborhood_settings(MPI_Info info);

struct InPlaceSettings {
  std::optional<SwapOrder> order;  // none: auto
  bool order_by_key = false;       // asked for by the program, not by the environment alone
  std::string channel = "auto";    // or shared, p2p-packed
  Bytes memory = 1 << 20;          // may differ between ranks, like timeout
  double timeout = 10;
  bool progress_thread = false;
  std::uint64_t fingerprint() const;  // of what may not
};

// Of an in-place exchange. Throws Errc::argument or Errc::algorithm with the key that is wrong.
InPlaceSettings read_in_place_settings(MPI_Info info);

}  // namespace tonari
