// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/known_side.hpp"

#include <algorithm>
#include <cstring>

namespace tonari {
namespace {

template <class Value>
bool same_list(const std::vector<Value>& known, const Value* given) {
  return known.empty() ||
         (given && std::memcmp(known.data(), given, known.size() * sizeof(Value)) == 0);
}

}  // namespace

KnownSide::KnownSide(const BufferArguments& given, std::size_t blocks)
    : form_(given.form), count_(given.count), type_(given.type) {
  const auto mark = [&](MPI_Datatype type) {
    const auto known = [&](const NamedType& other) { return other.type == type; };
    if (std::ranges::any_of(marked_, known)) return;
    if (const NamedType named = named_type(type); named.mark) marked_.push_back(named);
  };
  if (given.form != Form::w && blocks > 0) mark(given.type);
  if (given.form == Form::regular || blocks == 0) return;
  counts_ = KeptNumbers(given.counts, blocks);
  displacements_.assign(given.displacements, given.displacements + blocks);
  if (given.form != Form::w) return;
  types_.assign(given.types, given.types + blocks);
  for (MPI_Datatype type : types_) mark(type);
}

bool KnownSide::same(const BufferArguments& given) const {
  return given.form == form_ && given.count == count_ && given.type == type_ &&
         counts_.same(given.counts) && same_list(displacements_, given.displacements) &&
         same_list(types_, given.types);
}

bool KnownSide::same_types() const {
  return std::ranges::all_of(marked_, [](const NamedType& known) { return known.is(known.type); });
}

}  // namespace tonari
