#include "operation.hpp"

#include "base/error.hpp"

namespace bench {
using tonari::Collective, tonari::Errc;

Operation parse_operation(const std::string& word) {
  for (const Collective collective : {Collective::alltoall, Collective::allgather})
    for (const Form form : {Form::regular, Form::v, Form::w})
      if (const Operation operation{collective, form}; name(operation) == word) return operation;
  tonari::fail(Errc::argument, "unknown operation '", word,
               "': alltoall, alltoallv, alltoallw, allgather, allgatherv or allgatherw");
}

Layout parse_layout(const std::string& word, Operation operation) {
  const bool alltoall = operation.collective == Collective::alltoall;
  if (word.empty())
    return operation.form != Form::w ? Layout::contiguous
           : alltoall                ? Layout::halo
                                     : Layout::strided;
  if (word == "contiguous") return Layout::contiguous;
  if (word == "strided" && operation.form == Form::w) return Layout::strided;
  if (word == "halo" && operation.form == Form::w && alltoall) return Layout::halo;
  tonari::fail(Errc::argument, "layout '", word, "' does not go with ", name(operation),
               ": contiguous for all, strided for w forms, halo for alltoallw");
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
