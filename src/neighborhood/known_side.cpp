// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/known_side.hpp"

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
  if (given.form != Form::w && blocks > 0) marked_.add(given.type);
  if (given.form == Form::regular || blocks == 0) return;
  counts_ = NumberCopy(given.counts, blocks);
  displacements_.assign(given.displacements, given.displacements + blocks);
  if (given.form != Form::w) return;
  types_.assign(given.types, given.types + blocks);
  for (MPI_Datatype type : types_) marked_.add(type);
}

bool KnownSide::same(const BufferArguments& given) const {
  return given.form == form_ && given.count == count_ && given.type == type_ &&
         counts_.same(given.counts) && same_list(displacements_, given.displacements) &&
         same_list(types_, given.types) && marked_.same();
}

}  // namespace tonari
