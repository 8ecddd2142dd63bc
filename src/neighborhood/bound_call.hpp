// SPDX-License-Identifier: BSD-3-Clause
// A call that is promised to come again with the same buffers, counts and types
// (cdag_static_buffers).
#pragma once

#include <memory>
#include <optional>

#include "base/error.hpp"
#include "neighborhood/known_side.hpp"

namespace tonari {

struct Prepared;

class BoundCall {
 public:
  // `binding` belongs to the call. Throws Errc::mpi.
  BoundCall(const Call& call, const LocalTopology& topology, Binding binding,
            std::shared_ptr<Prepared> prepared);

  Prepared& prepared() const { return *prepared_; }
  const std::shared_ptr<Prepared>& shared() const { return prepared_; }

  // Says what breaks the promise; nothing if the call is the one that was bound. Not collective. It
  // allocates nothing if arrays hold the same numbers and datatypes; others are read and compared
  // byte by byte.
  std::optional<Error> difference(const Call& call, const LocalTopology& topology) const;

 private:
  bool same_names(const Call& call) const;

  const void *sendbuf_ = nullptr, *recvbuf_ = nullptr;
  KnownSide send_, recv_;
  Binding binding_;
  std::shared_ptr<Prepared> prepared_;
};

}  // namespace tonari
