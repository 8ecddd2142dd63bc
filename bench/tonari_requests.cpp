// SPDX-License-Identifier: BSD-3-Clause
#include "tonari_requests.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "several_buffers.hpp"
#include "tonari_candidate.hpp"

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

// The key and its value that a word about one protocol of Hoefler 2012 stands for.
std::optional<std::pair<const char*, std::string>> protocol_key(const std::string& word) {
  const std::string number = word.substr(word.rfind('-') + 1);
  if (word == "ready-each") return {{"tonari_ready", "each"}};
  if (word == "no-canary") return {{"tonari_canary", "0"}};
  if (word == "ready-tree-" + number) return {{"tonari_ready", "tree/" + number}};
  if (word == "canary-" + number) return {{"tonari_canary", number}};
  return std::nullopt;
}

}  // namespace

tonari_request make_request(const Workload& work, tonari_neighborhood near, const Keys& keys) {
  return make_request(work, work.buffers(), near, keys.get());
}

tonari_request make_request(const Workload& work, BufferPair buffers, tonari_neighborhood near,
                            MPI_Info info) {
  tonari_request request = TONARI_REQUEST_NULL;
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
  static const std::vector<std::string> uses = {"",      "view",    "start-with", "two-requests",
                                                "group", "requests"};
  static const std::vector<std::string> channels =
      tonari::choices(tonari::setting("TONARI_CHANNEL"));
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
  const auto protocol = protocol_key(use);
  if (std::ranges::count(uses, use) == 0 && !protocol)
    tonari::fail(
        tonari::Errc::argument, "unknown candidate '", name,
        "': after algorithm and channel only view, start-with, two-requests, group, requests, "
        "ready-each, ready-tree-N, no-canary or canary-BYTES, for example linear/shared/view");
  if (algorithm.starts_with("tonari-")) algorithm = algorithm.substr(std::strlen("tonari-"));
  Keys keys{{"tonari_algorithm", algorithm},
            {"tonari_channel", channel},
            {"tonari_tune", tune},
            {"tonari_recv_view", use == "view" ? "yes" : "no"}};
  if (protocol) keys.set(protocol->first, protocol->second);
  if (auto several = make_several(use, work, near, keys)) return several;
  auto request = make_request(work, near, keys);
  if (use == "view") return std::make_unique<ViewCandidate>(request, work.place.sources.size());
  return std::make_unique<TonariCandidate>(request);
}

}  // namespace bench
