#include "spmv/vector_exchange.hpp"

#include "keys.hpp"

namespace bench::spmv {

namespace {

constexpr const char* prefix = "vector/";

class VectorExchange : public Exchange {
 public:
  VectorExchange(const std::string& route, const Share& share, const std::string& tune)
      : keys_{{"tonari_route", route}, {"tonari_tune", tune}} {
    check(tonari_vector_create(share.comm, share.first, share.owned,
                               static_cast<std::int64_t>(share.ghosts.size()), share.ghosts.data(),
                               keys_.get(), &vector_));
  }
  ~VectorExchange() override {
    if (request_ != TONARI_REQUEST_NULL) tonari_request_free(&request_);
    tonari_vector_free(&vector_);
  }
  void forward(const double* owned, double* ghosts) {
    check(tonari_vector_forward_init(vector_, nullptr, owned, ghosts, keys_.get(), &request_));
  }
  void reverse(const double* ghosts, double* owned) {
    check(tonari_vector_reverse_init(vector_, nullptr, MPI_SUM, ghosts, owned, keys_.get(),
                                     &request_));
  }
  void run() override {
    check(tonari_start(request_));
    check(tonari_wait(request_));
  }
  bool ours() const override { return true; }
  std::string chosen() const override {
    tonari_vector_facts facts;
    check(tonari_vector_get_facts(vector_, &facts));
    tonari_request_info info;
    check(tonari_request_get_info(request_, &info));
    return std::string(facts.route) + "/" + info.algorithm + "/" + info.channel;
  }

 private:
  Keys keys_;
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

}  // namespace

const std::vector<std::string>& route_names() {
  static const std::vector<std::string> names{"vector/direct", "vector/topology:2", "vector/node",
                                              "vector/auto"};
  return names;
}

std::string route_of(const std::string& name) {
  return name.starts_with(prefix) ? name.substr(std::string(prefix).size()) : "";
}

bool route_applies(const std::string& route, const Share& share) {
  return route != "topology:2" || share.ranks >= 4;
}

std::unique_ptr<Exchange> make_vector_forward(const std::string& route, const Share& share,
                                              const std::string& tune, const double* owned,
                                              double* ghosts) {
  if (!route_applies(route, share)) return nullptr;
  auto exchange = std::make_unique<VectorExchange>(route, share, tune);
  exchange->forward(owned, ghosts);
  return exchange;
}

std::unique_ptr<Exchange> make_vector_reverse(const std::string& route, const Share& share,
                                              const std::string& tune, const double* ghosts,
                                              double* owned) {
  if (!route_applies(route, share)) return nullptr;
  auto exchange = std::make_unique<VectorExchange>(route, share, tune);
  exchange->reverse(ghosts, owned);
  return exchange;
}

}  // namespace bench::spmv
