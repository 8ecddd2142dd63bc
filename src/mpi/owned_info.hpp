// SPDX-License-Identifier: BSD-3-Clause
// An info object that the library made and has to free.
#pragma once

#include <mpi.h>

#include <utility>

#include "mpi/mpi_error.hpp"

namespace tonari {

class OwnedInfo {
 public:
  OwnedInfo() = default;
  OwnedInfo(const char* key, const char* value) : OwnedInfo() {  // so that what fails frees it
    check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
    check_mpi(MPI_Info_set(info_, key, value), "MPI_Info_set");
  }
  OwnedInfo(OwnedInfo&& other) noexcept : info_(std::exchange(other.info_, MPI_INFO_NULL)) {}
  OwnedInfo& operator=(OwnedInfo&& other) noexcept {
    std::swap(info_, other.info_);
    return *this;
  }
  ~OwnedInfo() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace tonari
