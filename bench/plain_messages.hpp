// SPDX-License-Identifier: BSD-3-Clause
// The comparator every MPI programmer writes first: one message per block, by MPI_Irecv and
// MPI_Isend or by persistent requests.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

namespace bench {

struct PlainMessage {
  const void* at;
  int count;
  MPI_Datatype type;
  int rank, tag;
};

class PlainMessages {
 public:
  PlainMessages(MPI_Comm comm, std::vector<PlainMessage> in, std::vector<PlainMessage> out,
                bool persistent)
      : comm_(comm),
        in_(std::move(in)),
        out_(std::move(out)),
        requests_(in_.size() + out_.size()),
        persistent_(persistent) {
    if (persistent_) all(MPI_Recv_init, MPI_Send_init);
  }
  ~PlainMessages() {
    for (MPI_Request& request : requests_)
      if (persistent_) MPI_Request_free(&request);
  }
  PlainMessages(const PlainMessages&) = delete;
  PlainMessages& operator=(const PlainMessages&) = delete;

  void start() {
    if (!persistent_)
      all(MPI_Irecv, MPI_Isend);
    else if (!requests_.empty())  // Open MPI takes no empty list
      MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  template <class Receive, class Send>
  void all(const Receive& receive, const Send& send) {
    MPI_Request* request = requests_.data();
    for (const PlainMessage& m : in_)
      receive(const_cast<void*>(m.at), m.count, m.type, m.rank, m.tag, comm_, request++);
    for (const PlainMessage& m : out_) send(m.at, m.count, m.type, m.rank, m.tag, comm_, request++);
  }

  MPI_Comm comm_;
  std::vector<PlainMessage> in_, out_;
  std::vector<MPI_Request> requests_;
  bool persistent_;
};

}  // namespace bench
