// The floor (section 7: "the empirically minimum time ... by only measuring the time taken to
// communicate message-sized buffers"): 26 contiguous buffers of the sizes of MemMap's messages, by
// persistent requests as MemMap has them.
#include <cstdlib>
#include <cstring>
#include <new>

#include "halo/exchange.hpp"

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
    for (const bool sends : {false, true})
      for (int i = 0; i < count(); ++i) {
        if (rank(i) == torus.rank() && !self_by_mpi) {
          if (sends) copied_.push_back(i);
          continue;
        }
        MPI_Request& request = requests_.emplace_back();
        if (sends)
          MPI_Send_init(out_[i].get(), static_cast<int>(messages_[i].bytes), MPI_BYTE, rank(i), i,
                        torus.comm(), &request);
        else
          MPI_Recv_init(in_[i].get(), static_cast<int>(arriving(i)), MPI_BYTE, rank(i), opposite(i),
                        torus.comm(), &request);
      }
  }
  ~Network() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void run() override {
    const double start = now();
    const int requests = static_cast<int>(requests_.size());
    if (requests) MPI_Startall(requests, requests_.data());
    for (const int i : copied_)
      std::memcpy(in_[opposite(i)].get(), out_[i].get(),
                  static_cast<std::size_t>(messages_[i].bytes));
    const double sent = now();
    MPI_Waitall(requests, requests_.data(), MPI_STATUSES_IGNORE);
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
  std::vector<MPI_Request> requests_;
  std::vector<int> copied_;
};

}  // namespace

std::unique_ptr<Exchange> make_network(const Torus& torus, const std::vector<Message>& messages,
                                       bool through_mpi) {
  return std::make_unique<Network>(torus, messages, through_mpi);
}

}  // namespace bench::halo
