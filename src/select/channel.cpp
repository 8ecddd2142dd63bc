// SPDX-License-Identifier: BSD-3-Clause
#include "select/channel.hpp"

#include <algorithm>
#include <charconv>

#include "base/split.hpp"

namespace tonari {
namespace {

std::string words_of(std::span<const ChannelChoice::Part> parts, char separator, auto&& word_of) {
  std::string all;
  for (const ChannelChoice::Part& part : parts)
    if (const std::string word = word_of(part); !word.empty())
      all += (all.empty() ? "" : std::string(1, separator)) + word;
  return all;
}

// The word goes to the first part that understands it and does not have it.
bool add_word(ChannelChoice& choice, const std::string& word) {
  std::vector<ChannelChoice::Part*> parts{&choice.base};
  for (ChannelChoice::Part& part : choice.edges) parts.push_back(&part);
  const auto found = std::ranges::find_if(parts, [&](const ChannelChoice::Part* part) {
    return part->row->understands(word) && !has_word(part->detail, word);
  });
  if (found == parts.end()) return false;
  std::string& detail = (*found)->detail;
  detail = joined(detail, word);
  return true;
}

}  // namespace

void ChannelChoice::ask(const Settings& settings) {
  base.detail = base.row->asked(settings);
  for (Part& part : edges) part.detail = part.row->asked(settings);
}

bool ChannelChoice::has_asked(const Settings& settings) const {
  const auto has = [&](const Part& part) {
    const std::string wanted = part.row->asked(settings);
    return wanted.empty() || std::ranges::all_of(split(wanted, "/"), [&](const std::string& word) {
             return has_word(part.detail, word);
           });
  };
  return has(base) && std::ranges::all_of(edges, has);
}

std::string ChannelChoice::name() const {
  const auto name_of = [](const Part& part) { return std::string(part.row->name); };
  return edges.empty() ? base.row->name : words_of(edges, '+', name_of);
}

std::string ChannelChoice::detail() const {
  const auto detail_of = [](const Part& part) { return part.detail; };
  const std::string others = words_of(edges, '/', detail_of);
  return joined(base.detail, others);
}

std::vector<ChannelChoice> all_choices(Channels table) {
  std::vector<ChannelChoice> all;
  const auto each = [&](Carries carries, auto&& add) {
    for (const Channel* row : table)
      if (row->carries == carries) add(row);
  };
  const ChannelChoice::Part base{table.front()};
  each(Carries::plan, [&](const Channel* row) { all.push_back({{row}}); });
  for (Carries carries : {Carries::node_messages, Carries::messages})
    each(carries, [&](const Channel* row) { all.push_back({base, {{row}}}); });
  each(Carries::node_messages, [&](const Channel* near) {
    each(Carries::messages, [&](const Channel* far) { all.push_back({base, {{near}, {far}}}); });
  });
  return all;
}

ChannelChoice find_choice(Channels table, const std::string& name,
                          std::span<const std::string> words) {
  for (ChannelChoice& choice : all_choices(table))
    if (choice.name() == name)
      return std::ranges::all_of(words, [&](const auto& w) { return add_word(choice, w); })
                 ? choice
                 : ChannelChoice{};
  return {};
}

std::string joined(const std::string& detail, const std::string& more) {
  return detail + (detail.empty() || more.empty() ? "" : "/") + more;
}

bool has_word(const std::string& detail, std::string_view word) {
  return std::ranges::count(split(detail, "/"), word) > 0;
}

std::size_t number_after(const std::string& detail, std::string_view words) {
  std::size_t number = 0;
  for (const std::string& word : split(detail, "/"))
    if (word.starts_with(words))
      std::from_chars(word.data() + words.size(), word.data() + word.size(), number);
  return number;
}

bool asks_for(const Settings& settings, std::string_view name) {
  return std::ranges::count(split(settings.channel, "+"), name) > 0;
}

double message_bytes(const Offer& offer) {
  const auto messages = std::max<double>(1, static_cast<double>(offer.variant->messages()));
  return offer.problem.sizes.average * static_cast<double>(offer.variant->hops()) / messages;
}

LinkCosts links_of(const Offer& offer, ChannelCost channel) {
  const Problem& problem = offer.problem;
  const bool known = problem.several_nodes && problem.node_of;
  return mpi_messages(offer.machine, channel, problem.several_nodes,
                      known ? problem.node_of() : std::span<const std::int32_t>());
}

bool combines(const Variant& variant) { return variant.variant() != uncombined; }

}  // namespace tonari
