#include "engine/mpi_world.hpp"

#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"

namespace tonari {

// Synchronous sends: one is complete only when its receiver has begun to receive it. The barrier rests on that.
class MpiWorld::Sends {
 public:
  Sends() = default;
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;
  ~Sends() {  // after an error some may be under way; what they send stays in outgoing_
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request), MPI_Request_free(&request);
  }

  void start(MPI_Comm comm, std::int32_t to, const Stream& stream, int longest, int tag) {
    for (std::size_t at = 0; at < stream.size(); at += static_cast<std::size_t>(longest)) {
      const int count = static_cast<int>(std::min<std::size_t>(stream.size() - at, longest));
      check_mpi(MPI_Issend(&stream[at], count, MPI_INT64_T, to, tag, comm, &requests_.emplace_back(MPI_REQUEST_NULL)), "MPI_Issend");
    }
  }
  bool done() {  // tests each only until it is complete: this is asked between any two messages that come
    for (; complete_ < requests_.size(); ++complete_) {
      int is = 0;
      check_mpi(MPI_Test(&requests_[complete_], &is, MPI_STATUS_IGNORE), "MPI_Test");
      if (!is) return false;
    }
    return true;
  }

 private:
  std::vector<MPI_Request> requests_;
  std::size_t complete_ = 0;
};

MpiWorld::MpiWorld(MPI_Comm comm, int longest_message) : comm_(comm), longest_message_(longest_message) {
  if (longest_message < 1) fail(Errc::internal, "messages of ", longest_message, " words");
  int rank = 0;
  MPI_Comm_size(comm, &ranks_);
  MPI_Comm_rank(comm, &rank);
  here_ = {rank};
  check_mpi(MPI_Barrier(comm), "MPI_Barrier");  // an earlier world's last exchange may have had the tag of this one's first
}

void MpiWorld::put(std::size_t k, std::int32_t to, std::span<const Word> words) {
  if (k != 0 || to < 0 || to >= ranks_) fail(Errc::internal, "a letter for rank ", to, " of ", ranks_);
  Stream& stream = outgoing_[to];
  stream.push_back(static_cast<Word>(words.size()));
  stream.insert(stream.end(), words.begin(), words.end());
}

// The barrier is entered when one's own messages are being received, so once it is complete all messages of this exchange are, each by its receiver in
// this very loop. Another rank may be out of the barrier earlier and send for the next exchange while this one is still testing: the tag tells those
// apart. It cannot be two exchanges ahead, because the next barrier needs this rank. So two tags suffice.
void MpiWorld::exchange() {
  tag_ = tag_ == planning_even ? planning_odd : planning_even;
  mail_.clear();
  incoming_.clear();
  if (auto own = outgoing_.extract(here_[0])) incoming_.insert(std::move(own));

  Sends sends;
  for (const auto& [to, stream] : outgoing_) sends.start(comm_, to, stream, longest_message_, tag_);
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int complete = 0; !complete;) {
    const bool received = receive_if_any();
    if (barrier != MPI_REQUEST_NULL) check_mpi(MPI_Test(&barrier, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    else if (sends.done()) check_mpi(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier");
    if (!received && !complete) std::this_thread::yield();  // ranks may outnumber cores
  }
  outgoing_.clear();
  open_streams();
}

bool MpiWorld::receive_if_any() {
  int found = 0, count = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &found, &message, &status), "MPI_Improbe");
  if (!found) return false;
  check_mpi(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
  Stream& stream = incoming_[status.MPI_SOURCE];  // messages of one sender come in the order in which it started them
  const std::size_t before = stream.size();
  stream.resize(before + static_cast<std::size_t>(count));
  check_mpi(MPI_Mrecv(stream.data() + before, count, MPI_INT64_T, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return true;
}

void MpiWorld::open_streams() {
  for (const auto& [from, stream] : incoming_)
    for (std::span<const Word> rest(stream); !rest.empty();) {
      const auto length = static_cast<std::size_t>(rest[0]);
      mail_.push_back({from, rest.subspan(1, length)});
      rest = rest.subspan(1 + length);
    }
}

std::span<const std::size_t> MpiWorld::receivers() const {
  static constexpr std::size_t only = 0;
  return {&only, mail_.empty() ? 0u : 1u};
}

void MpiWorld::reduce(std::span<Word> words, MPI_Op operation) {
  while (!words.empty()) {
    const std::span<Word> part = words.first(std::min<std::size_t>(words.size(), longest_message_));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_INT64_T, operation, comm_), "MPI_Allreduce");
    words = words.subspan(part.size());
  }
}

}  // namespace tonari
