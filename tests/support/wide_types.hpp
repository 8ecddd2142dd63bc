// SPDX-License-Identifier: BSD-3-Clause
// Datatypes whose bytes or offsets are beyond 2^63, as far as the MPI makes them: some refuse.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tonari::test {

// While it lives MPI says what it refuses, instead of ending the program.
class ErrorsAreReturned {
 public:
  ErrorsAreReturned() {
    for (int k = 0; k < 2; ++k)
      MPI_Comm_get_errhandler(comms_[k], &before_[k]),
          MPI_Comm_set_errhandler(comms_[k], MPI_ERRORS_RETURN);
  }
  ~ErrorsAreReturned() {
    for (int k = 0; k < 2; ++k)
      MPI_Comm_set_errhandler(comms_[k], before_[k]), MPI_Errhandler_free(&before_[k]);
  }
  ErrorsAreReturned(const ErrorsAreReturned&) = delete;
  ErrorsAreReturned& operator=(const ErrorsAreReturned&) = delete;

 private:
  MPI_Comm comms_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before_[2];
};

class WideTypes {
 public:
  WideTypes() {
    const ErrorsAreReturned returned;
    const MPI_Datatype gib =
        keep([](MPI_Datatype* t) { return MPI_Type_contiguous(1 << 30, MPI_BYTE, t); });
    // 2^60 bytes
    const MPI_Datatype eib =
        keep([&](MPI_Datatype* t) { return MPI_Type_contiguous(1 << 30, gib, t); });
    const MPI_Datatype ends = keep([](MPI_Datatype* t) {
      return MPI_Type_create_hvector(2, 1, MPI_Aint{1} << 62, MPI_INT, t);
    });
    const int one_and_all[] = {1, 16};
    const MPI_Aint one_behind[] = {0, 4};
    const MPI_Datatype parts[] = {MPI_INT, eib};
    // 2^63 bytes
    wide([&](MPI_Datatype* t) { return MPI_Type_contiguous(8, eib, t); });
    // 2^64: none, if it wraps around
    wide([&](MPI_Datatype* t) { return MPI_Type_contiguous(16, eib, t); });
    const MPI_Datatype none =
        keep([&](MPI_Datatype* t) { return MPI_Type_contiguous(16, eib, t); });
    wide([&](MPI_Datatype* t) { return MPI_Type_create_resized(none, 0, 8, t); });
    // 4, if it wraps around
    wide([&](MPI_Datatype* t) {
      return MPI_Type_create_struct(2, one_and_all, one_behind, parts, t);
    });
    // the last at 2^63
    wide([&](MPI_Datatype* t) {
      return MPI_Type_create_hvector(3, 1, MPI_Aint{1} << 62, MPI_INT, t);
    });
    wide([&](MPI_Datatype* t) { return MPI_Type_vector(5, 1, 1 << 30, eib, t); });
    wide([&](MPI_Datatype* t) { return MPI_Type_contiguous(4, ends, t); });
  }
  WideTypes(const WideTypes&) = delete;
  WideTypes& operator=(const WideTypes&) = delete;
  ~WideTypes() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }
  const std::vector<MPI_Datatype>& all() const { return all_; }

 private:
  using Make = std::function<int(MPI_Datatype*)>;

  MPI_Datatype keep(const Make& make) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (make(&type) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
    made_.push_back(type);
    return type;
  }
  void wide(const Make& make) {
    if (const MPI_Datatype type = keep(make); type != MPI_DATATYPE_NULL) all_.push_back(type);
  }

  std::vector<MPI_Datatype> made_, all_;
};

}  // namespace tonari::test
