#include <dlfcn.h>

#include <cstdint>
#include <vector>

#include "count.hpp"

#if defined(MPICH_VERSION)

namespace {
long ucx_sends = 0;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
}  // namespace

// UCX's tagged sends (ucp.h), which MPICH's ch4:ucx device calls for messages to other processes.
extern "C" __attribute__((visibility("default"))) void* ucp_tag_send_nbx(void* ep, const void* buffer, std::size_t count, std::uint64_t tag,
                                                                         const void* param) {
  static const auto real = next<void* (*)(void*, const void*, std::size_t, std::uint64_t, const void*)>("ucp_tag_send_nbx");
  ++ucx_sends;
  return real(ep, buffer, count, tag, param);
}
extern "C" __attribute__((visibility("default"))) void* ucp_tag_send_sync_nbx(void* ep, const void* buffer, std::size_t count, std::uint64_t tag,
                                                                              const void* param) {
  static const auto real = next<void* (*)(void*, const void*, std::size_t, std::uint64_t, const void*)>("ucp_tag_send_sync_nbx");
  ++ucx_sends;
  return real(ep, buffer, count, tag, param);
}

namespace bench {
struct Wire::Source {
  explicit Source(MPI_Comm) {}
  Sent read(int) const { return {ucx_sends, 0}; }
};
}  // namespace bench

#else

namespace bench {

// Open MPI's monitoring layer: a performance variable with the number of messages to each rank of a communicator.
struct Wire::Source {
  explicit Source(MPI_Comm comm) : comm_(comm) {
    int provided, index, size;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_pvar_get_index("pml_monitoring_messages_count", MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) return;
    MPI_T_pvar_session_create(&session_);
    if (MPI_T_pvar_handle_alloc(session_, index, &comm_, &handle_, &size) != MPI_SUCCESS) return;
    counts_.resize(size);
    MPI_T_pvar_start(session_, handle_);
  }
  ~Source() {
    if (!counts_.empty()) MPI_T_pvar_handle_free(session_, &handle_);
    if (session_ != MPI_T_PVAR_SESSION_NULL) MPI_T_pvar_session_free(&session_);
    MPI_T_finalize();
  }
  Sent read(int rank) {
    Sent sent;
    if (counts_.empty() || MPI_T_pvar_read(session_, handle_, counts_.data()) != MPI_SUCCESS) return sent;
    for (std::size_t peer = 0; peer < counts_.size(); ++peer) (static_cast<int>(peer) == rank ? sent.self : sent.others) += counts_[peer];
    return sent;
  }

 private:
  MPI_Comm comm_;
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
  std::vector<unsigned long> counts_;
};

}  // namespace bench

#endif

namespace bench {

Wire::Wire(MPI_Comm comm) : source_(new Source(comm)) {
  int ranks;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks);
  const auto send = [&](int to, int from, int times) {
    for (int i = 0; i < times; ++i) {
      char out = 1, in = 0;
      PMPI_Sendrecv(&out, 1, MPI_CHAR, to, 0, &in, 1, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
    }
  };
  const auto everywhere = [&](bool mine) {
    int all = mine;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm);
    return all != 0;
  };
  others_ = everywhere(ranks == 1 || count([&] { send((rank_ + 1) % ranks, (rank_ + ranks - 1) % ranks, 5); }).others == 5);
  self_ = everywhere(count([&] { send(rank_, rank_, 3); }).self == 3);
}

Wire::~Wire() { delete source_; }

Sent Wire::read() const { return source_->read(rank_); }

Sent Wire::count(const std::function<void()>& exchange) const {
  const Sent before = read();
  exchange();
  const Sent after = read();
  return {after.others - before.others, after.self - before.self};
}

}  // namespace bench
