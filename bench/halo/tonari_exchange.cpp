// SPDX-License-Identifier: BSD-3-Clause
// tonari's exchanges.
#include <string>

#include "halo/exchange.hpp"
#include "keys.hpp"

namespace bench::halo {

namespace {

class Tonari : public Exchange {
 public:
  // How it sends what stays on this rank is not seen at the MPI: the storage knows.
  Tonari(const Field& field, const Kind& kind, const Options& options)
      : field_(field), kind_(kind) {
    const Keys keys{{"tonari_halo", kind.halo}};
    for (int copy = 0; copy < copies(); ++copy)
      check(tonari_grid_exchange_init(field.grid(), copy, keys.get(), &requests_[copy]));
    check(tonari_request_get_info(requests_[0], &info_));
    count_copies(options);
  }
  ~Tonari() override {
    for (int copy = 0; copy < copies(); ++copy) tonari_request_free(&requests_[copy]);
  }

  void run() override {
    const double start = now();
    check(tonari_start(requests_[next_]));
    const double started = now();
    check(tonari_wait(requests_[next_]));
    phases_ = {0, started - start, now() - started};
    if (copies_alternate()) next_ = 1 - next_;
  }
  int copy() const override { return next_; }
  bool copies_alternate() const override { return field_.storage() == Storage::mapped_ghosts; }
  bool verify(int generation) override { return verify_field(*this, field_, generation); }
  std::string description() const override { return tonari_request_describe(requests_[0]); }
  std::string chosen() const override {
    return std::string(info_.algorithm) + (*info_.variant ? std::string(": ") + info_.variant : "");
  }
  std::optional<long long> declared_bytes() const override {
    return planned() ? std::optional<long long>(info_.bytes) : std::nullopt;
  }
  // MPI's own collective
  bool inside_mpi() const override { return std::string(info_.variant).starts_with("native"); }
  bool ours() const override { return true; }
  int copied_messages() const override { return copied_.pieces; }
  long long copied_bytes() const override { return copied_.bytes; }

 private:
  int copies() const { return copies_alternate() ? 2 : 1; }
  bool planned() const { return std::string(info_.algorithm) == "plan"; }
  bool stays(const Neighbor& neighbor) const { return neighbor.rank == field_.torus().rank(); }

  void count_copies(const Options& options) {
    copied_ = {0, 0};
    const std::string way = info_.algorithm;
    if (way == "zero-byte") return;
    if (way == "shift") return count_shifts(options);
    const bool mapped = field_.storage() == Storage::mapped,
               in_pieces = way == "layout" || (planned() && field_.storage() == Storage::brick);
    const Sending sending = in_pieces        ? Sending::pieces
                            : way == "basic" ? Sending::regions
                            : mapped         ? Sending::views
                                             : Sending::cells;
    const std::vector<Message> messages = messages_of(field_.cube(), options, unit(), sending);
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (stays(field_.torus().neighbors()[i]))
        copied_.pieces += messages[i].pieces, copied_.bytes += messages[i].bytes;
  }
  // Two faces in each dimension along which there is one rank only.
  void count_shifts(const Options& options) {
    for (int k = 0; k < 3; ++k)
      if (field_.torus().dims()[static_cast<std::size_t>(k)] == 1)
        copied_.pieces += 2, copied_.bytes += shifted_bytes(field_.cube(), options, unit(), k);
  }
  long long unit() const {
    return field_.storage() == Storage::mapped ? static_cast<long long>(field_.info().page) : 1;
  }

  const Field& field_;
  Kind kind_;
  tonari_request requests_[2]{TONARI_REQUEST_NULL, TONARI_REQUEST_NULL};
  tonari_request_info info_{};
  Message copied_{0, 0};
  int next_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_tonari(const Field& field, const Kind& kind,
                                      const Options& options) {
  return std::make_unique<Tonari>(field, kind, options);
}

}  // namespace bench::halo
