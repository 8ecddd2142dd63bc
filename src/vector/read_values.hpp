// Reads what the program says about its values.
#pragma once

#include "vector/exchange.hpp"
#include "vector/request.hpp"

namespace tonari {

struct VectorValues {
  std::vector<ValueField> fields;  // in the order in which a message has them
  // what ranks compare: of all fields
  std::uint64_t widths = 0, vectors = 0, reductions = 0;
  bool in_place = false;  // owned values and ghosts have places in common
};

// What of a pattern tells where values lie: the rest of it is empty.
VectorPattern places_of(const VectorPattern& pattern);
// Throws Errc::buffers if owned values and ghosts overlap.
void check_apart(const VectorPattern& places, const ValueField& field);

// Throws Errc::argument, Errc::overflow, Errc::buffers. Local.
VectorValues read_values(const VectorPattern& pattern, const VectorCall& call);

}  // namespace tonari
