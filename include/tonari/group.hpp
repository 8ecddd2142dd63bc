// SPDX-License-Identifier: BSD-3-Clause
// tonari's groups for C++20: group.h with an owner and exceptions. Header only.
//
//   tonari::Group group(comm);
//   group.add(near.alltoall_init(out, in));
//   group.add(vector.forward_init(x, ghosts));
//   group.add(grid.exchange_init(0));
//   tonari::Request all = group.end();  // or, to exchange once: group.run();
//
// What a group collects, and what may be in one, is said in group.h. The requests that the calls
// return in a group are empty; add() takes them, and says so where one is not.
#pragma once

#include <tonari/group.h>
#include <tonari/tonari.hpp>

namespace tonari {
inline namespace api0 {

// An open group of this thread.
class [[nodiscard]] Group {
 public:
  [[nodiscard]] explicit Group(MPI_Comm comm) { check(tonari_group_start(comm)); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // Where the group was not closed, because of an exception for instance: it is given up, and
  // closing it fails on the ranks that do so. Collective as end() is.
  ~Group() {
    if (!open_) return;
    tonari_refuse(TONARI_ERR_ARGUMENT,
                  "the group was given up: its scope was left before end() or run()");
    tonari_group_end(MPI_INFO_NULL, nullptr);
  }

  // What a call of this group returned.
  void add(const Request& collected) const {
    if (collected.handle() != TONARI_REQUEST_NULL)
      throw Failure(TONARI_ERR_ARGUMENT,
                    "tonari::Group::add: the group did not collect this request; make it between "
                    "the group's construction and its end, by the thread of the group");
  }
  // Collective: one request of all that was collected.
  Request end(MPI_Info info = MPI_INFO_NULL) {
    open_ = false;
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_group_end(info, &request));
    return Request(request);
  }
  // Collective: exchanges once, at once. irun() returns while the exchange is under way, and its
  // request is to be waited for; run() returns when it is complete.
  Request irun(MPI_Info info = MPI_INFO_NULL) {
    open_ = false;
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_group_irun(info, &request));
    return Request(request);
  }
  void run(MPI_Info info = MPI_INFO_NULL) {
    open_ = false;
    check(tonari_group_run(info));
  }

 private:
  bool open_ = true;
};

}  // namespace api0
}  // namespace tonari
