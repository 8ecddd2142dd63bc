// SPDX-License-Identifier: BSD-3-Clause
#include "spmv/vector_exchange.hpp"

#include "keys.hpp"

namespace bench::spmv {

namespace {

constexpr const char* prefix = "vector/";

tonari_vector make(const Share& share, MPI_Info keys) {
  tonari_vector vector = TONARI_VECTOR_NULL;
  check(tonari_vector_create(share.comm, share.first, share.owned,
                             static_cast<std::int64_t>(share.ghosts.size()), share.ghosts.data(),
                             keys, &vector));
  return vector;
}

class VectorExchange : public Way {
 public:
  VectorExchange(bool forward, const std::string& route, const Share& share,
                 const std::string& tune, const double* from, double* to)
      : forward_(forward),
        keys_{{"tonari_route", route}, {"tonari_tune", tune}},
        vector_(make(share, keys_.get())) {
    request_ = init(from, to);
  }
  ~VectorExchange() override {
    tonari_request_free(&request_);
    tonari_vector_free(&vector_);
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

 protected:
  tonari_request init(const double* from, double* to) const {
    tonari_request made = TONARI_REQUEST_NULL;
    check(forward_ ? tonari_vector_forward_init(vector_, nullptr, from, to, keys_.get(), &made)
                   : tonari_vector_reverse_init(vector_, nullptr, MPI_SUM, from, to, keys_.get(),
                                                &made));
    return made;
  }
  tonari_request request_ = TONARI_REQUEST_NULL;

 private:
  bool forward_;
  Keys keys_;
  tonari_vector vector_;
};

// A program that exchanges two pairs of arrays in turn: by one request, or by two.
class InTurn : public VectorExchange {
 public:
  InTurn(bool forward, bool by_two, const Share& share, const std::string& tune, Turns turns)
      : VectorExchange(forward, "direct", share, tune, turns.pairs[0].from, turns.pairs[0].to),
        turns_(turns) {
    if (by_two) second_ = init(turns.pairs[1].from, turns.pairs[1].to);
  }
  ~InTurn() override { tonari_request_free(&second_); }
  void run() override {
    next_ = 1 - next_;
    const Turns::Pair& pair = turns_.pairs[turns_.at = next_];
    const tonari_request request = second_ && next_ == 1 ? second_ : request_;
    check(second_ ? tonari_start(request) : tonari_start_with(request, pair.from, pair.to));
    check(tonari_wait(request));
  }

 private:
  Turns turns_;
  std::size_t next_ = 0;
  tonari_request second_ = TONARI_REQUEST_NULL;
};

class OneShotCalls : public Way {
 public:
  OneShotCalls(bool forward, const Share& share, const double* from, double* to)
      : forward_(forward), from_(from), to_(to), vector_(make(share, MPI_INFO_NULL)) {}
  ~OneShotCalls() override { tonari_vector_free(&vector_); }
  void run() override {
    check(forward_ ? tonari_vector_forward(vector_, nullptr, from_, to_)
                   : tonari_vector_reverse(vector_, nullptr, MPI_SUM, from_, to_));
  }
  bool ours() const override { return true; }

 private:
  bool forward_;
  const double* from_;
  double* to_;
  tonari_vector vector_;
};

}  // namespace

const std::vector<std::string>& route_names() {
  static const std::vector<std::string> names{"vector/direct",   "vector/store-and-forward/2",
                                              "vector/balanced", "vector/message-sharing",
                                              "vector/node",     "vector/auto"};
  return names;
}

std::string route_of(const std::string& name) {
  return name.starts_with(prefix) ? name.substr(std::string(prefix).size()) : "";
}

bool route_applies(const std::string& route, const Share& share) {
  return route != "store-and-forward/2" || share.ranks >= 4;
}

std::unique_ptr<Way> make_vector(bool forward, const std::string& route, const Share& share,
                                 const std::string& tune, const double* from, double* to) {
  if (!route_applies(route, share)) return nullptr;
  return std::make_unique<VectorExchange>(forward, route, share, tune, from, to);
}

std::unique_ptr<Way> make_in_turn(bool forward, const std::string& name, const Share& share,
                                  const std::string& tune, Turns turns) {
  return std::make_unique<InTurn>(forward, name == two_requests, share, tune, turns);
}

std::unique_ptr<Way> make_one_shot_calls(bool forward, const Share& share, const double* from,
                                         double* to) {
  return std::make_unique<OneShotCalls>(forward, share, from, to);
}

}  // namespace bench::spmv
