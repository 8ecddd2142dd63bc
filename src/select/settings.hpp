// SPDX-License-Identifier: BSD-3-Clause
// What a program asks of the choice of an exchange, by info keys and variables of the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "select/race.hpp"

namespace tonari {

// recall: wisdom, else the model; what one-shot calls use instead of online, automatic and measure.
enum class Tune : std::uint8_t { automatic, off, model, measure, recall, online };
Tune parse_tune(const std::string& word);  // one that the table of settings lists
// For what cannot be tuned while it is used: routes of vectors, exchanges in place.
inline Tune at_init(Tune tune) { return tune == Tune::online ? Tune::automatic : tune; }

struct Settings {
  std::string algorithm = "auto";  // a name forces it: it runs wherever it is possible
  std::string variant;             // of the algorithm, as labels have it; empty: any
  std::string channel = "auto";
  Tune tune = Tune::online;
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
  std::size_t contenders = Race::most_candidates;  // that starts try at most
  double timeout = 10;                             // seconds; not what ranks must agree on
  // The promises that the program made for all exchanges on a neighborhood (Hoefler 2012, section
  // II).
  bool strict_communication = false, exact_byte_communications = false, static_buffers = false;
  std::uint64_t fingerprint() const;
};

}  // namespace tonari
