#include "tonari_requests.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

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
int alltoall(const Workload& w, Regular regular, V v, W each, Rest... rest) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = static_cast<int>(w.bytes);
  switch (w.operation.form) {
    case Form::regular:
      return regular(w.send(), count, MPI_BYTE, w.recv(), count, MPI_BYTE, rest...);
    case Form::v:
      return v(w.send(), s.counts.data(), s.offsets.data(), MPI_BYTE, w.recv(), r.counts.data(),
               r.offsets.data(), MPI_BYTE, rest...);
    case Form::w:
      break;
  }
  return each(w.send(), s.counts.data(), s.offsets.data(), s.types.data(), w.recv(),
              r.counts.data(), r.offsets.data(), r.types.data(), rest...);
}

template <class Regular, class V, class W, class... Rest>
int allgather(const Workload& w, Regular regular, V v, W each, Rest... rest) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = s.counts[0];
  switch (w.operation.form) {
    case Form::regular:
      return regular(w.send(), count, MPI_BYTE, w.recv(), count, MPI_BYTE, rest...);
    case Form::v:
      return v(w.send(), count, MPI_BYTE, w.recv(), r.counts.data(), r.offsets.data(), MPI_BYTE,
               rest...);
    case Form::w:
      break;
  }
  return each(w.send(), count, MPI_BYTE, w.recv(), r.counts.data(), r.offsets.data(),
              r.types.data(), rest...);
}

// The blocking call, again and again.
class OneShot : public Candidate {
 public:
  OneShot(const Workload& work, tonari_neighborhood near) : work_(work), near_(near) {}
  void run() override {
    check(work_.operation.collective == Collective::alltoall
              ? alltoall(work_, tonari_alltoall, tonari_alltoallv, tonari_alltoallw, near_)
              : allgather(work_, tonari_allgather, tonari_allgatherv, tonari_allgatherw, near_));
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
    std::string label = info_.algorithm;
    if (std::strlen(info_.variant)) label += std::string("/") + info_.variant;
    label += std::string("/") + info_.channel;
    return std::strlen(info_.channel_detail) ? label + "/" + info_.channel_detail : label;
  }
  std::string reason() const override { return info_.reason; }
  bool inside_mpi() const override { return std::strcmp(info_.channel, "mpi") == 0; }
  bool ours() const override { return !inside_mpi(); }
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
  tonari_request request = TONARI_REQUEST_NULL;
  const MPI_Info info = keys.get();
  check(work.operation.collective == Collective::alltoall
            ? alltoall(work, tonari_alltoall_init, tonari_alltoallv_init, tonari_alltoallw_init,
                       near, info, &request)
            : allgather(work, tonari_allgather_init, tonari_allgatherv_init, tonari_allgatherw_init,
                        near, info, &request));
  return request;
}

std::unique_ptr<Candidate> make_tonari(const std::string& name, const Workload& work,
                                       tonari_neighborhood near, const std::string& tune) {
  if (name == "one-shot") return std::make_unique<OneShot>(work, near);
  static const std::vector<std::string> channels =
      tonari::choices(tonari::setting(tonari::SettingId::channel));
  std::istringstream parts(name);
  std::string algorithm, channel, view;
  std::getline(parts, algorithm, '/');
  if (!std::getline(parts, channel, '/')) channel = "auto";
  if (std::ranges::count(channels, channel) == 0) {
    algorithm += "/" + channel;
    if (!std::getline(parts, channel, '/')) channel = "auto";
  }
  std::getline(parts, view);
  if (!view.empty() && view != "view")
    tonari::fail(tonari::Errc::argument, "unknown candidate '", name,
                 "': after algorithm and channel only view, for example linear/shared/view");
  if (algorithm.starts_with("tonari-")) algorithm = algorithm.substr(std::strlen("tonari-"));
  const Keys keys{{"tonari_algorithm", algorithm},
                  {"tonari_channel", channel},
                  {"tonari_tune", tune},
                  {"tonari_recv_view", view.empty() ? "no" : "yes"}};
  auto request = make_request(work, near, keys);
  if (view.empty()) return std::make_unique<TonariCandidate>(request);
  return std::make_unique<ViewCandidate>(request, work.place.sources.size());
}

}  // namespace bench
