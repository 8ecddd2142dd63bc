#include "tonari_requests.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/setting.hpp"
#include "tonari_way.hpp"

namespace bench {
using tonari::Collective;

tonari_neighborhood make_neighborhood(const Place& place) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  if (!place.graph.empty()) {
    check(tonari_neighborhood_create_adjacent(
        place.cart, static_cast<int>(place.sources.size()), place.sources.data(), MPI_UNWEIGHTED,
        static_cast<int>(place.targets.size()), place.targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
        &near));
    return near;
  }
  check(tonari_neighborhood_create_cart(place.cart, static_cast<int>(place.targets.size()),
                                        place.flat.data(), MPI_INFO_NULL, &near));
  return near;
}

namespace {

// The three forms of an operation take what the workload has, and then `rest`.
template <class Regular, class V, class W, class... Rest>
int alltoall(const Workload& w, BufferPair b, Regular regular, V v, W each, Rest... rest) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = static_cast<int>(w.bytes);
  switch (w.operation.form) {
    case Form::regular:
      return regular(b.send, count, MPI_BYTE, b.recv, count, MPI_BYTE, rest...);
    case Form::v:
      return v(b.send, s.counts.data(), s.offsets.data(), MPI_BYTE, b.recv, r.counts.data(),
               r.offsets.data(), MPI_BYTE, rest...);
    case Form::w:
      break;
  }
  return each(b.send, s.counts.data(), s.offsets.data(), s.types.data(), b.recv, r.counts.data(),
              r.offsets.data(), r.types.data(), rest...);
}

template <class Regular, class V, class W, class... Rest>
int allgather(const Workload& w, BufferPair b, Regular regular, V v, W each, Rest... rest) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = s.counts[0];
  switch (w.operation.form) {
    case Form::regular:
      return regular(b.send, count, MPI_BYTE, b.recv, count, MPI_BYTE, rest...);
    case Form::v:
      return v(b.send, count, MPI_BYTE, b.recv, r.counts.data(), r.offsets.data(), MPI_BYTE,
               rest...);
    case Form::w:
      break;
  }
  return each(b.send, count, MPI_BYTE, b.recv, r.counts.data(), r.offsets.data(), r.types.data(),
              rest...);
}

// The blocking call, again and again.
class OneShot : public Candidate {
 public:
  OneShot(const Workload& work, tonari_neighborhood near) : work_(work), near_(near) {}
  void run() override {
    check(work_.operation.collective == Collective::alltoall
              ? alltoall(work_, work_.buffers(), tonari_alltoall, tonari_alltoallv,
                         tonari_alltoallw, near_)
              : allgather(work_, work_.buffers(), tonari_allgather, tonari_allgatherv,
                          tonari_allgatherw, near_));
  }
  std::string channel() const override { return "auto"; }
  bool ours() const override { return true; }

 private:
  const Workload& work_;
  tonari_neighborhood near_;
};

class TonariCandidate : public TonariWay<Candidate> {
 public:
  using TonariWay::TonariWay;
  std::string chosen() const override {
    const tonari_request_info now = info();
    std::string label = now.algorithm;
    if (std::strlen(now.variant)) label += std::string("/") + now.variant;
    label += std::string("/") + now.channel;
    return std::strlen(now.channel_detail) ? label + "/" + now.channel_detail : label;
  }
  std::string reason() const override { return info().reason; }
  bool inside_mpi() const override { return std::strcmp(info().channel, "mpi") == 0; }
  bool ours() const override { return !inside_mpi(); }
};

// Buffers like those of a workload.
class PairMemory {
 public:
  explicit PairMemory(const Workload& work)
      : one_array_(work.send() == work.recv()),
        recv_(allocate(work.recv_bytes())),
        send_(allocate(one_array_ ? 0 : work.send_bytes())) {}
  BufferPair pair() const { return {one_array_ ? recv_.get() : send_.get(), recv_.get()}; }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  using Owned = std::unique_ptr<unsigned char, Free>;
  static Owned allocate(std::size_t bytes) { return Owned(Workload::allocate(bytes)); }

  bool one_array_;
  Owned recv_, send_;
};

// A program that exchanges two pairs of buffers in turn: by one request, or by two.
class InTurn : public TonariCandidate {
 public:
  InTurn(tonari_request first, const Workload& work, PairMemory other)
      : TonariCandidate(first), other_(std::move(other)), pairs_{work.buffers(), other_.pair()} {}
  ~InTurn() override { tonari_request_free(&second_); }
  InTurn(const InTurn&) = delete;
  InTurn& operator=(const InTurn&) = delete;
  void use_two(tonari_request second) { second_ = second; }  // it is on the other buffers

  void run() override {
    at_ = 1 - at_;
    if (!second_) {
      check(tonari_start_with(request_, pairs_[at_].send, pairs_[at_].recv));
      return check(tonari_wait(request_));
    }
    const tonari_request request = at_ == 0 ? request_ : second_;
    check(tonari_start(request));
    check(tonari_wait(request));
  }
  void prepare(Workload& work) override {
    work.poison();
    std::memcpy(const_cast<void*>(pairs_[1].send), work.send(), work.send_bytes());
    std::memcpy(pairs_[1].recv, work.recv(), work.recv_bytes());
  }
  bool correct(const Workload& work) const override {
    if (at_ == 0) return work.correct();
    std::memcpy(work.recv(), pairs_[1].recv, work.recv_bytes());
    return std::memcmp(pairs_[1].send, work.send(), work.send_bytes()) == 0 && work.correct();
  }

 private:
  PairMemory other_;
  BufferPair pairs_[2];
  tonari_request second_ = TONARI_REQUEST_NULL;
  std::size_t at_ = 0;
};

// A program that reads the blocks where they arrived.
class ViewCandidate : public TonariCandidate {
 public:
  ViewCandidate(tonari_request request, std::size_t blocks)
      : TonariCandidate(request), views_(blocks) {}
  bool correct(const Workload& work) const override {
    std::vector<const void*> views(views_);
    for (std::size_t j = 0; j < views.size(); ++j)
      check(tonari_request_recv_view(request_, static_cast<int>(j), &views[j], nullptr));
    return work.correct(views);
  }

 private:
  std::size_t views_;
};

}  // namespace

tonari_request make_request(const Workload& work, tonari_neighborhood near, const Keys& keys) {
  return make_request(work, work.buffers(), near, keys);
}

tonari_request make_request(const Workload& work, BufferPair buffers, tonari_neighborhood near,
                            const Keys& keys) {
  tonari_request request = TONARI_REQUEST_NULL;
  const MPI_Info info = keys.get();
  check(work.operation.collective == Collective::alltoall
            ? alltoall(work, buffers, tonari_alltoall_init, tonari_alltoallv_init,
                       tonari_alltoallw_init, near, info, &request)
            : allgather(work, buffers, tonari_allgather_init, tonari_allgatherv_init,
                        tonari_allgatherw_init, near, info, &request));
  return request;
}

std::unique_ptr<Candidate> make_tonari(const std::string& name, const Workload& work,
                                       tonari_neighborhood near, const std::string& tune) {
  if (name == "one-shot") return std::make_unique<OneShot>(work, near);
  static const std::vector<std::string> uses = {"", "view", "start-with", "two-requests"};
  static const std::vector<std::string> channels =
      tonari::choices(tonari::setting(tonari::SettingId::channel));
  std::istringstream parts(name);
  std::string algorithm, channel, use;
  std::getline(parts, algorithm, '/');
  if (!std::getline(parts, channel, '/')) channel = "auto";
  if (std::ranges::count(uses, channel) > 0) use = std::exchange(channel, "auto");
  if (std::ranges::count(channels, channel) == 0) {
    algorithm += "/" + channel;
    if (!std::getline(parts, channel, '/')) channel = "auto";
  }
  if (use.empty()) std::getline(parts, use);
  if (std::ranges::count(uses, use) == 0)
    tonari::fail(
        tonari::Errc::argument, "unknown candidate '", name,
        "': after algorithm and channel only view, start-with or two-requests, for example "
        "linear/shared/view");
  if (algorithm.starts_with("tonari-")) algorithm = algorithm.substr(std::strlen("tonari-"));
  const Keys keys{{"tonari_algorithm", algorithm},
                  {"tonari_channel", channel},
                  {"tonari_tune", tune},
                  {"tonari_recv_view", use == "view" ? "yes" : "no"}};
  auto request = make_request(work, near, keys);
  if (use == "view") return std::make_unique<ViewCandidate>(request, work.place.sources.size());
  if (use.empty()) return std::make_unique<TonariCandidate>(request);
  PairMemory other(work);
  const BufferPair pair = other.pair();
  auto in_turn = std::make_unique<InTurn>(request, work, std::move(other));
  if (use == "two-requests") in_turn->use_two(make_request(work, pair, near, keys));
  return in_turn;
}

}  // namespace bench
