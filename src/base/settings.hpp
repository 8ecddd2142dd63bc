// SPDX-License-Identifier: BSD-3-Clause
// What a program asks for by info keys and variables of the environment. Rows of
// base/setting_table.hpp name these members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/checked.hpp"

namespace tonari {

// The words of the row in its order. Then recall: wisdom, else the model; what one-shot calls use
// instead of online, automatic and measure.
enum class Tune : std::uint8_t { automatic, online, off, model, measure, recall };
// For what cannot be tuned while it is used: routes of vectors, exchanges in place.
inline Tune at_init(Tune tune) { return tune == Tune::online ? Tune::automatic : tune; }

// The channel of blocks that all lie on devices. Exchanges of the host have no such channel.
inline constexpr char device_handles[] = "device-handles";

// Members that a call does not read keep their defaults.
struct Settings {
  std::string algorithm = "auto";  // a name forces it: it runs wherever it is possible
  std::string variant;             // of the algorithm, as labels have it; empty: any
  std::string channel = "auto";
  Tune tune = Tune::online;
  std::optional<double> tune_seconds;  // of rank 0; none: by tune
  std::string schedule;  // the name of a file, which the algorithm "schedule" runs; empty: none
  int ports = 0;
  bool progress_thread = false;
  bool recv_view = false;
  bool start_with = false;  // blocks only
  // How receivers tell a sender that it may write: none: as it is expected to pay; 0: each of them
  // does; else: by a tree of this degree (Hoefler 2012, section II-C2).
  std::optional<int> ready;
  // Up to how many bytes a message's own bytes tell that it is complete (section II-C3); none: as
  // the channel likes.
  std::optional<Bytes> canary;
  double timeout = 10;    // seconds
  int connect_after = 8;  // one-shot calls
  // The promises that the program made for all exchanges on a neighborhood (Hoefler 2012, section
  // II).
  bool strict_communication = false, exact_byte_communications = false, static_buffers = false;
  std::string inplace_algorithm = "auto";
  Bytes inplace_memory = 1 << 20;
  std::string halo = "auto";
  bool halo_faces = false;
  std::string route = "direct";
  std::string sparse_algorithm = "auto";
  std::size_t contenders = SIZE_MAX;  // that starts try at most; no row names it
  // Exchanges of the host may use any channel.
  bool any_channel() const { return channel == "auto" || channel == device_handles; }
  bool operator==(const Settings&) const = default;
};

}  // namespace tonari
