// SPDX-License-Identifier: BSD-3-Clause
// Plain messages of a workload, blocks to the rank itself too.
#include "candidate.hpp"
#include "plain_messages.hpp"

namespace bench {

namespace {

std::vector<PlainMessage> messages(const Arguments& blocks, const void* buffer,
                                   const std::vector<int>& ranks, const std::vector<int>* tags) {
  std::vector<PlainMessage> all;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t b = blocks.counts.size() == 1 ? 0 : i;  // allgather has one block to send
    all.push_back({static_cast<const char*>(buffer) + blocks.offsets[b], blocks.counts[b],
                   blocks.types[b], ranks[i], tags ? (*tags)[i] : static_cast<int>(i)});
  }
  return all;
}

class Irecv : public Candidate {
 public:
  Irecv(const Workload& w, bool persistent)
      : messages_(w.place.cart,
                  messages(w.recv_arguments(), w.recv(), w.place.sources, &w.place.origins),
                  messages(w.send_arguments(), w.send(), w.place.targets, nullptr), persistent) {}
  void run() override {
    messages_.start();
    messages_.wait();
  }

 private:
  PlainMessages messages_;
};

}  // namespace

bool is_irecv(const std::string& name) { return name == "irecv" || name == "irecv-persistent"; }

std::unique_ptr<Candidate> make_irecv(const std::string& name, const Workload& work) {
  return std::make_unique<Irecv>(work, name == "irecv-persistent");
}

}  // namespace bench
