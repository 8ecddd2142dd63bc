// SPDX-License-Identifier: BSD-3-Clause
// Messages under way, whose requests are completed together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace tonari {

class RequestList {
 public:
  RequestList() = default;
  RequestList(const RequestList&) = delete;
  RequestList& operator=(const RequestList&) = delete;
  // After an error of MPI some may be under way: they are canceled. Who sends keeps what is sent.
  ~RequestList();

  void reserve(std::size_t count) { requests_.reserve(count); }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  bool done();  // then it is empty again

 private:
  std::vector<MPI_Request> requests_;
  std::size_t complete_ = 0;
};

}  // namespace tonari
