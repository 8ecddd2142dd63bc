// SPDX-License-Identifier: BSD-3-Clause
// A datatype that the library made and has to free.
#pragma once

#include <mpi.h>

#include <map>
#include <utility>
#include <vector>

#include "mpi/mpi_error.hpp"

namespace tonari {

class OwnedType {
 public:
  OwnedType() = default;
  explicit OwnedType(MPI_Datatype type) : type_(type) {}
  OwnedType(OwnedType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  OwnedType& operator=(OwnedType&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~OwnedType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }
  MPI_Datatype* place() { return &type_; }  // for the call that makes it; its owner exists by then

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Committed duplicates of the program's types, one of each, which the program may free.
class TypeDuplicates {
 public:
  explicit TypeDuplicates(std::vector<OwnedType>& owned) : owned_(owned) {}
  MPI_Datatype operator()(MPI_Datatype type) {
    auto [entry, fresh] = copies_.try_emplace(type, MPI_DATATYPE_NULL);
    if (!fresh) return entry->second;
    OwnedType& made = owned_.emplace_back();
    check_mpi(MPI_Type_dup(type, made.place()), "MPI_Type_dup");
    check_mpi(MPI_Type_commit(made.place()), "MPI_Type_commit");
    return entry->second = made.get();
  }

 private:
  std::map<MPI_Datatype, MPI_Datatype> copies_;
  std::vector<OwnedType>& owned_;
};

}  // namespace tonari
