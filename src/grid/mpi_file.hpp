// SPDX-License-Identifier: BSD-3-Clause
// A file that all ranks have open through MPI-IO; errors are sentences with its name.
#pragma once

#include <mpi.h>

#include <string>

namespace tonari {

class MpiFile {
 public:
  // Collective. Throws the same on all ranks if some cannot open it: MPI says so on those alone,
  // and what others have open then cannot be closed together.
  MpiFile(MPI_Comm comm, std::string name, int mode);
  ~MpiFile();
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;

  MPI_File get() const { return file_; }
  void check(int code, const char* what) const;
  // Collective; throws the same on all ranks.
  void close(MPI_Comm comm);

 private:
  std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace tonari
