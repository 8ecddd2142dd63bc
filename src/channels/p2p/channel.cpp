// SPDX-License-Identifier: BSD-3-Clause
// The channels of MPI point to point: blocks packed, or described by derived datatypes.
#include <algorithm>

#include "channels/connect.hpp"
#include "channels/table.hpp"
#include "select/candidates.hpp"

namespace tonari {
namespace {

constexpr const char* segments = "segments of ";  // bytes, in which messages are cut
constexpr const char* immediate = "immediate";    // Isend and Irecv, not persistent requests

bool is_immediate(const std::string& detail) { return detail.ends_with(immediate); }

bool understands(const std::string& word) {
  return word == immediate || number_after(word, segments) > 0;
}

// Messages that the MPI does not send eagerly are also tried in pieces that it does.
std::vector<std::string> eager_segments(const Offer& offer, bool) {
  const std::size_t eager = links_of(offer, {}).network.machine.eager;
  if (message_bytes(offer) <= static_cast<double>(eager)) return {};
  return {segments + std::to_string(eager)};
}

// Starting persistent requests costs some MPIs more than it saves.
std::string immediate_form(const std::string& detail) {
  if (is_immediate(detail)) return "";
  return detail.empty() ? immediate : text(detail, "/", immediate);
}

template <bool typed>
double price(const Offer& offer, const std::string& detail) {
  return price(*offer.variant, offer.problem.sizes,
               links_of(offer, {typed, number_after(detail, segments), true}));
}

// Packed messages in and out, or forwarded blocks.
template <bool typed>
double scratch(const Variant& variant, const Problem& problem) {
  if (!combines(variant)) return 0;
  const double hops = static_cast<double>(variant.hops()),
               blocks = static_cast<double>(problem.neighbors);
  return problem.sizes.average *
         (typed ? std::min(blocks, std::max(0.0, hops - blocks)) : 2 * hops);
}

template <bool typed>
P2pProgram compile(const Compiling& given) {
  Packing packing = given.packing;
  packing.segment = number_after(given.detail, segments);
  P2pProgram program = typed ? compile_typed(given.plan, given.binding, given.arguments)
                             : compile_packed(given.plan, given.binding, packing);
  program.persistent = !is_immediate(given.detail);
  return program;
}

}  // namespace

const Channel p2p_packed{.name = "p2p-packed",
                         .help = "MPI messages that blocks are copied into and out of",
                         .carries = Carries::plan,
                         .details = eager_segments,
                         .understands = understands,
                         .finalist = immediate_form,
                         .price = price<false>,
                         .scratch = scratch<false>,
                         .compile = compile<false>};

const Channel p2p_typed{.name = "p2p-typed",
                        .help = "MPI messages that derived datatypes describe, without copies",
                        .carries = Carries::plan,
                        .understands = understands,
                        .finalist = immediate_form,
                        .price = price<true>,
                        .scratch = scratch<true>,
                        .storage = Storage::alternate,
                        .compile = compile<true>};

}  // namespace tonari
