// A datatype that the library made and has to free.
#pragma once

#include <mpi.h>

#include <utility>

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

}  // namespace tonari
