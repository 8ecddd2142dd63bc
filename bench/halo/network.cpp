// SPDX-License-Identifier: BSD-3-Clause
// The floor (section 7: "the empirically minimum time ... by only measuring the time taken to
// communicate message-sized buffers"): 26 contiguous buffers of the sizes of MemMap's messages, by
// persistent requests as MemMap has them.
#include <cstdlib>
#include <cstring>
#include <new>

#include "halo/exchange.hpp"
#include "plain_messages.hpp"

namespace bench::halo {

namespace {

struct Free {
  void operator()(char* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<char, Free>;

Buffer buffer_of(long long bytes) {
  constexpr std::size_t alignment = 4096;
  char* const p = static_cast<char*>(std::aligned_alloc(
      alignment, (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment));
  if (!p) throw std::bad_alloc();
  std::memset(p, 0, static_cast<std::size_t>(bytes));
  return Buffer(p);
}

class Network : public Exchange {
 public:
  Network(const Torus& torus, const std::vector<Message>& messages, bool self_by_mpi)
      : torus_(torus), messages_(messages) {
    for (int i = 0; i < count(); ++i)
      out_.push_back(buffer_of(messages_[i].bytes)), in_.push_back(buffer_of(arriving(i)));
    std::vector<PlainMessage> in, out;
    for (int i = 0; i < count(); ++i) {
      if (rank(i) == torus.rank() && !self_by_mpi) {
        copied_.push_back(i);
        continue;
      }
      in.push_back({in_[i].get(), static_cast<int>(arriving(i)), MPI_BYTE, rank(i), opposite(i)});
      out.push_back({out_[i].get(), static_cast<int>(messages_[i].bytes), MPI_BYTE, rank(i), i});
    }
    requests_.emplace(torus.comm(), in, out, true);
  }

  void run() override {
    const double start = now();
    requests_->start();
    for (const int i : copied_)
      std::memcpy(in_[opposite(i)].get(), out_[i].get(),
                  static_cast<std::size_t>(messages_[i].bytes));
    const double sent = now();
    requests_->wait();
    phases_ = {0, sent - start, now() - sent};
  }

  bool verify(int generation) override {
    for (int i = 0; i < count(); ++i) {
      std::memset(in_[i].get(), 0xFF, static_cast<std::size_t>(arriving(i)));
      for_each_word(out_[i].get(), messages_[i].bytes, [&](long long k, double& word) {
        word = value(torus_.rank(), i, generation, k);
      });
    }
    run();
    bool good = true;
    for (int i = 0; i < count(); ++i)
      for_each_word(in_[i].get(), arriving(i), [&](long long k, double& word) {
        good = good && word == value(rank(i), opposite(i), generation, k);
      });
    MPI_Barrier(torus_.comm());
    return good;
  }
  std::string description() const override {
    const char* const itself = copied_.empty() ? "to itself by MPI, too" : "to itself by memcpy";
    return std::string(
               "no grid: contiguous buffers as large as memmap's messages, persistent requests; ") +
           itself;
  }
  int copied_messages() const override { return static_cast<int>(copied_.size()); }
  long long copied_bytes() const override {
    long long bytes = 0;
    for (const int i : copied_) bytes += messages_[i].bytes;
    return bytes;
  }

 private:
  int count() const { return static_cast<int>(messages_.size()); }
  int rank(int i) const { return torus_.neighbors()[static_cast<std::size_t>(i)].rank; }
  // from neighbor i: all ranks send alike
  long long arriving(int i) const { return messages_[opposite(i)].bytes; }
  static double value(int from, int neighbor, int generation, long long k) {
    return static_cast<double>(((from * 26LL + neighbor) * 8 + generation % 8) << 28 | k);
  }
  template <class F>
  static void for_each_word(char* buffer, long long bytes, const F& f) {
    double* const words = reinterpret_cast<double*>(buffer);
    for (long long k = 0; k < bytes / static_cast<long long>(sizeof(double)); ++k) f(k, words[k]);
  }

  const Torus& torus_;
  std::vector<Message> messages_;
  std::vector<Buffer> out_, in_;
  std::optional<PlainMessages> requests_;
  std::vector<int> copied_;
};

}  // namespace

std::unique_ptr<Exchange> make_network(const Torus& torus, const std::vector<Message>& messages,
                                       bool through_mpi) {
  return std::make_unique<Network>(torus, messages, through_mpi);
}

}  // namespace bench::halo
