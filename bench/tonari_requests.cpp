#include "tonari_requests.hpp"

#include <cstring>

#include "base/error.hpp"

namespace bench {
using tonari::Collective;

void check(int code) {
  if (code != TONARI_SUCCESS) tonari::fail(static_cast<tonari::Errc>(code), tonari_last_error());
}

Keys::Keys(std::initializer_list<std::pair<const char*, std::string>> values) {
  MPI_Info_create(&info_);
  for (const auto& [key, value] : values) MPI_Info_set(info_, key, value.c_str());
}

tonari_neighborhood make_neighborhood(const Place& place) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  if (!place.graph.empty()) {
    check(tonari_neighborhood_create_adjacent(place.cart, static_cast<int>(place.sources.size()), place.sources.data(), MPI_UNWEIGHTED,
                                              static_cast<int>(place.targets.size()), place.targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
    return near;
  }
  check(tonari_neighborhood_create_cart(place.cart, static_cast<int>(place.targets.size()), place.flat.data(), MPI_INFO_NULL, &near));
  return near;
}

namespace {

int alltoall(const Workload& w, tonari_neighborhood near, MPI_Info info, tonari_request* request) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = static_cast<int>(w.bytes);
  switch (w.operation.form) {
    case Form::regular: return tonari_alltoall_init(w.send(), count, MPI_BYTE, w.recv(), count, MPI_BYTE, near, info, request);
    case Form::v:
      return tonari_alltoallv_init(w.send(), s.counts.data(), s.offsets.data(), MPI_BYTE, w.recv(), r.counts.data(), r.offsets.data(), MPI_BYTE,
                                   near, info, request);
    case Form::w: break;
  }
  return tonari_alltoallw_init(w.send(), s.counts.data(), s.offsets.data(), s.types.data(), w.recv(), r.counts.data(), r.offsets.data(),
                               r.types.data(), near, info, request);
}

int allgather(const Workload& w, tonari_neighborhood near, MPI_Info info, tonari_request* request) {
  const Arguments &s = w.send_arguments(), &r = w.recv_arguments();
  const int count = s.counts[0];
  switch (w.operation.form) {
    case Form::regular: return tonari_allgather_init(w.send(), count, MPI_BYTE, w.recv(), count, MPI_BYTE, near, info, request);
    case Form::v:
      return tonari_allgatherv_init(w.send(), count, MPI_BYTE, w.recv(), r.counts.data(), r.offsets.data(), MPI_BYTE, near, info, request);
    case Form::w: break;
  }
  return tonari_allgatherw_init(w.send(), count, MPI_BYTE, w.recv(), r.counts.data(), r.offsets.data(), r.types.data(), near, info, request);
}

class TonariCandidate : public Candidate {
 public:
  explicit TonariCandidate(tonari_request request) : request_(request) { check(tonari_request_get_info(request_, &info_)); }
  ~TonariCandidate() override { tonari_request_free(&request_); }
  void run() override {
    check(tonari_start(request_));
    check(tonari_wait(request_));
  }
  std::string channel() const override { return info_.channel; }
  std::string chosen() const override {
    std::string label = info_.algorithm;
    if (std::strlen(info_.variant)) label += std::string("/") + info_.variant;
    label += std::string("/") + info_.channel;
    return std::strlen(info_.channel_detail) ? label + "/" + info_.channel_detail : label;
  }
  std::string reason() const override { return info_.reason; }
  bool inside_mpi() const override { return std::strcmp(info_.channel, "mpi") == 0; }
  bool ours() const override { return true; }

 private:
  tonari_request request_;
  tonari_request_info info_{};
};

}  // namespace

tonari_request make_request(const Workload& work, tonari_neighborhood near, const Keys& keys) {
  tonari_request request = TONARI_REQUEST_NULL;
  check((work.operation.collective == Collective::alltoall ? alltoall : allgather)(work, near, keys.get(), &request));
  return request;
}

std::unique_ptr<Candidate> make_tonari(const std::string& name, const Workload& work, tonari_neighborhood near, const std::string& tune) {
  const auto slash = name.find('/');
  std::string algorithm = name.substr(0, slash);
  if (algorithm.starts_with("tonari-")) algorithm = algorithm.substr(std::strlen("tonari-"));
  const std::string channel = slash == std::string::npos ? "auto" : name.substr(slash + 1);
  const Keys keys{{"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", tune}};
  return std::make_unique<TonariCandidate>(make_request(work, near, keys));
}

}  // namespace bench
