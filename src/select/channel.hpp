// SPDX-License-Identifier: BSD-3-Clause
// A channel is one row: a way to move messages, and all that choosing it takes. The caller owns the
// table (channels/table.hpp); nothing in the core knows a row by name.
//
// What a channel can vary is its detail, words joined by slashes such as "segments of 4000": the
// row alone writes and reads them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "cost/links.hpp"
#include "plan/variant.hpp"
#include "select/problem.hpp"

namespace tonari {

struct Compiling;   // channels/connect.hpp
struct Connecting;  // likewise
struct P2pProgram;  // channels/p2p/program.hpp

// A channel carries whole exchanges, or only messages, which may then use different channels.
enum class Carries : std::uint8_t {
  exchange,       // blocks, without a plan
  plan,           // all messages of a plan; what is left beside channels of the next two kinds
  node_messages,  // single messages between ranks of a node
  messages,       // single messages between any two ranks
};

// The question that a row answers.
struct Offer {
  const Variant* variant;  // null if the channel carries exchanges
  const Problem& problem;
  const Settings& settings;
  const LogGP& machine;
};

struct Channel {
  const char* name;
  const char* help;  // one line
  Carries carries;
  // Connecting takes collective calls of the MPI that may take milliseconds: requests do not try it
  // unless it is predicted to do well, or an earlier one has left it (select/contenders.hpp).
  bool expensive = false;
  // Empty, or the reason why it moves nothing here, or is tried only on request.
  std::string (*applicable)(const Problem&, const Settings&) = [](const Problem&, const Settings&) {
    return std::string();
  };
  // Details worth trying besides the empty one; `mixed` means beside another channel.
  std::vector<std::string> (*details)(const Offer&, bool mixed) = [](const Offer&, bool) {
    return std::vector<std::string>();
  };
  // The words of details that the settings ask for: whatever uses the channel has them.
  std::string (*asked)(const Settings&) = [](const Settings&) { return std::string(); };
  // Tells whether this word belongs to a detail.
  bool (*understands)(const std::string& word) = [](const std::string&) { return false; };
  // A detail that is tried only where this one does well; empty: none.
  std::string (*finalist)(const std::string& detail) = [](const std::string&) {
    return std::string();
  };
  // Seconds: of select/price.hpp, with the machine's parameters as this channel changes them.
  double (*price)(const Offer&, const std::string& detail);
  // Bytes that a rank holds for a plan while it is timed.
  double (*scratch)(const Variant&, const Problem&) = [](const Variant&, const Problem&) {
    return 0.0;
  };
  Storage storage = Storage::separate;  // of plans whose blocks all have a known size
  // Binds a plan (Carries::plan).
  P2pProgram (*compile)(const Compiling&) = nullptr;
  // Collective: connects single messages, those of each plan by a link of its own. A plan whose
  // messages cannot be connected gets the reason instead; throws the same error on all ranks.
  void (*connect)(std::span<Connecting>) = nullptr;
};

// The channels that the messages of one candidate use.
struct ChannelChoice {
  struct Part {
    const Channel* row = nullptr;
    std::string detail = {};
    friend bool operator==(const Part&, const Part&) = default;
  };
  Part base;                     // carries what no other part does
  std::vector<Part> edges = {};  // a message goes by the first part that can carry it

  void ask(const Settings& settings);              // gets the details that are asked for
  bool has_asked(const Settings& settings) const;  // has them
  std::string name() const;                        // p2p-packed, shared, shared+onesided
  std::string detail() const;                      // of all parts: "single copy/ready tree of 4"
  friend bool operator==(const ChannelChoice&, const ChannelChoice&) = default;
};

// All that settings can name, without details: channels for plans, then those for messages, then
// pairs of a channel on the node and one for the other messages. The first row carries what these
// leave.
std::vector<ChannelChoice> all_choices(Channels table);
// The choice with this name and these words of details; one without a row if there is none.
ChannelChoice find_choice(Channels table, const std::string& name,
                          std::span<const std::string> words = {});

// ---- for rows

// Two details as one.
std::string joined(const std::string& detail, const std::string& more);
bool has_word(const std::string& detail, std::string_view word);
// The number after these words of a detail; 0 if they are not in it.
std::size_t number_after(const std::string& detail, std::string_view words);
// Tells whether the settings name this channel, alone or beside another one.
bool asks_for(const Settings& settings, std::string_view name);
// The length of a message if all were equally long.
double message_bytes(const Offer& offer);
// The variant of linear that sends a message per block.
inline constexpr const char* uncombined = "a message per block";
// What the MPI's messages cost on the nodes of the problem, and between them.
LinkCosts links_of(const Offer& offer, ChannelCost channel);
// Tells whether a message may hold several blocks of the program.
bool combines(const Variant& variant);

}  // namespace tonari
