// SPDX-License-Identifier: BSD-3-Clause
#include "grid/mpi_file.hpp"

#include <utility>

#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

std::string reason(int code) {
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  return MPI_Error_string(code, words, &length) == MPI_SUCCESS
             ? std::string(words, static_cast<std::size_t>(length))
             : text("error ", code);
}

}  // namespace

MpiFile::MpiFile(MPI_Comm comm, std::string name, int mode) : name_(std::move(name)) {
  MPI_File opened = MPI_FILE_NULL;
  stay_together(comm);
  const int code = MPI_File_open(comm, name_.c_str(), mode, MPI_INFO_NULL, &opened);
  run_collectively(comm, [&] { check(code, "opened"); });
  file_ = opened;
}

MpiFile::~MpiFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void MpiFile::check(int code, const char* what) const {
  if (code != MPI_SUCCESS) fail(Errc::file, name_, " cannot be ", what, ": ", reason(code));
}

void MpiFile::close(MPI_Comm comm) {
  const int code = MPI_File_close(&file_);
  file_ = MPI_FILE_NULL;
  run_collectively(comm, [&] { check(code, "closed"); });
}

}  // namespace tonari
