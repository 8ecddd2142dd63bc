// SPDX-License-Identifier: BSD-3-Clause
#include "operation.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/nearest_name.hpp"

namespace bench {
using tonari::Collective, tonari::Errc;

Operation parse_operation(const std::string& word) {
  std::vector<std::string> known;
  for (const Collective collective : {Collective::alltoall, Collective::allgather})
    for (const Form form : {Form::regular, Form::v, Form::w}) {
      const Operation operation{collective, form};
      if (name(operation) == word) return operation;
      known.push_back(name(operation));
    }
  tonari::fail(Errc::argument, "unknown operation '", word,
               "': alltoall, alltoallv, alltoallw, allgather, allgatherv or allgatherw",
               tonari::did_you_mean(word, known));
}

Layout parse_layout(const std::string& word, Operation operation) {
  const bool alltoall = operation.collective == Collective::alltoall;
  if (word.empty())
    return operation.form != Form::w ? Layout::contiguous
           : alltoall                ? Layout::halo
                                     : Layout::strided;
  static const std::vector<std::string> known{"contiguous", "strided", "halo"};
  if (word == "contiguous") return Layout::contiguous;
  if (word == "strided" && operation.form == Form::w) return Layout::strided;
  if (word == "halo" && operation.form == Form::w && alltoall) return Layout::halo;
  tonari::fail(Errc::argument, "layout '", word, "' does not go with ", name(operation),
               ": contiguous for all, strided for w forms, halo for alltoallw",
               std::ranges::count(known, word) ? "" : tonari::did_you_mean(word, known));
}

std::string name(Operation operation) {
  static const char* const suffix[] = {"", "v", "w"};
  return std::string(tonari::name(operation.collective)) + suffix[static_cast<int>(operation.form)];
}

std::string name(Layout layout) {
  static const char* const names[] = {"contiguous", "strided", "halo"};
  return names[static_cast<int>(layout)];
}

}  // namespace bench
