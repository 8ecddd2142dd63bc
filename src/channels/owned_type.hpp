// A datatype that we made and have to free.
#pragma once

#include <mpi.h>

#include <utility>

namespace tonari {

class OwnedType {
 public:
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

 private:
  MPI_Datatype type_;
};

}  // namespace tonari
