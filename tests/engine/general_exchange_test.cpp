// SPDX-License-Identifier: BSD-3-Clause
// The general in-place all-to-all over MPI against the same exchange out of place, which each rank
// computes alone from a common seed.
#include "in_place/general_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "support/mpi_main.hpp"

namespace {

using namespace tonari;
using test::world_rank, test::world_size;
using Random = std::mt19937;

std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}

// The content of a block, byte by byte, in each of several exchanges.
std::byte content(std::uint64_t round, int from, int to, std::uint64_t k) {
  return static_cast<std::byte>((k * 2654435761u >> 7) + 31 * k +
                                101 * static_cast<unsigned>(from) + 57 * static_cast<unsigned>(to) +
                                13 * round);
}

struct Element {
  std::ptrdiff_t extent;
  Layout layout;
};

// All have 24 bytes. Elements: behind each other, with gaps, pieces at a stride, pieces out of
// order, two columns of a table that is `far` wide.
Element element_of(int style, std::ptrdiff_t far) {
  Element e{24, {}};
  if (style == 0) e.layout.add(0, 24);
  if (style == 1) e.extent = 30, e.layout.add(3, 24);
  if (style == 2) e.extent = 48, e.layout.add({0, 8, 16, 3});
  if (style == 3)
    e.extent = 40, e.layout.add(20, 10), e.layout.add({0, 3, 5, 4}), e.layout.add(35, 2);
  if (style > 3) e.extent = 12, e.layout.add(0, 12), e.layout.add(far, 12);
  return e;
}

constexpr int styles = 5;

struct Shape {
  std::uint64_t most = 40;  // elements per block
  // every buffer is full: 1 blocks in the same places, 2 blocks in shuffled places
  int full = 0;
  std::uint64_t salt = 0;
};

// One rank's buffer and arguments, and what must be there afterwards.
class Buffer {
 public:
  Buffer(Random& common, Random& mine, const Shape& shape, int style) : shape_(shape) {
    const int n = world_size(), me = world_rank();
    sizes_.assign(n, std::vector<std::uint64_t>(n));
    const bool sparse = common() % 3 == 0;
    const int shift = static_cast<int>(common() % static_cast<unsigned>(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        sizes_[i][j] = sparse && common() % 2 ? 0 : pick(common, 0, shape.most);
        if (shape.full)
          sizes_[i][j] = j == (i + shift) % n || j == (i + 1) % n ? shape.most : shape.most / 7;
      }
    for (int j = 0; j < n; ++j)
      problem.send_counts.push_back(sizes_[me][j]), problem.recv_counts.push_back(sizes_[j][me]);
    problem.send_displs = places(mine, problem.send_counts);
    problem.recv_displs = places(mine, problem.recv_counts);

    std::uint64_t elements = 1;
    for (int j = 0; j < n; ++j)
      elements = std::max({elements, problem.send_displs[j] + problem.send_counts[j],
                           problem.recv_displs[j] + problem.recv_counts[j]});
    const Element element = element_of(style, static_cast<std::ptrdiff_t>(12 * elements + 5));
    problem.element = std::make_shared<const Layout>(element.layout);
    problem.extent = element.extent;
    bytes.resize(elements * static_cast<std::size_t>(element.extent) +
                 static_cast<std::size_t>(element.layout.span().second) + 64);
    problem.base = bytes.data() + 16;
    for (const Run& run : element.layout.runs())
      for (std::size_t i = 0; i < run.count; ++i)
        for (std::size_t b = 0; b < run.length; ++b)
          offsets_.push_back(run.offset + static_cast<std::ptrdiff_t>(i) * run.stride +
                             static_cast<std::ptrdiff_t>(b));
  }

  void fill(std::uint64_t round) {
    Random random(static_cast<unsigned>(round) + 5);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    each(problem.send_displs, problem.send_counts, [&](std::byte& b, int to, std::uint64_t k) {
      b = content(round + shape_.salt, world_rank(), to, k);
    });
    before_ = bytes;
  }

  void check(std::uint64_t round) {
    std::vector<bool> known(bytes.size(), true);
    std::vector<std::byte> expected = before_;
    const auto index = [&](const std::byte& b) {
      return static_cast<std::size_t>(&b - bytes.data());
    };
    each(problem.send_displs, problem.send_counts,
         [&](std::byte& b, int, std::uint64_t) { known[index(b)] = false; });
    each(problem.recv_displs, problem.recv_counts, [&](std::byte& b, int from, std::uint64_t k) {
      known[index(b)] = true;
      expected[index(b)] = content(round + shape_.salt, from, world_rank(), k);
    });
    std::size_t wrong = 0, first = 0;
    for (std::size_t k = 0; k < bytes.size(); ++k)
      if (known[k] && bytes[k] != expected[k] && wrong++ == 0) first = k;
    EXPECT_EQ(wrong, 0u) << "bytes, the first is number " << first << " of " << bytes.size();
  }

  std::uint64_t sent() const {
    std::uint64_t all = 0;
    for (int j = 0; j < world_size(); ++j)
      if (j != world_rank()) all += 24 * problem.send_counts[j];
    return all;
  }

  GeneralProblem problem;
  std::vector<std::byte> bytes;

 private:
  // Full buffers: each rank's blocks lie in the same order, or each rank for itself in another.
  std::vector<std::int64_t> places(Random& mine, const std::vector<std::uint64_t>& counts) const {
    std::vector<int> order(counts.size());
    std::iota(order.begin(), order.end(), 0);
    if (shape_.full != 1 && mine() % 4) std::shuffle(order.begin(), order.end(), mine);
    const std::uint64_t gap = !shape_.full && mine() % 2 ? 3 : 0;
    std::vector<std::int64_t> displs(counts.size());
    std::uint64_t at = shape_.full || mine() % 2 ? 0 : pick(mine, 0, 60);
    for (int j : order) {
      at += pick(mine, 0, gap);
      displs[j] = static_cast<std::int64_t>(at);
      at += counts[j];
    }
    return displs;
  }

  template <class Look>
  void each(const std::vector<std::int64_t>& displs, const std::vector<std::uint64_t>& counts,
            Look look) {
    for (std::size_t j = 0; j < counts.size(); ++j)
      for (std::uint64_t e = 0, k = 0; e < counts[j]; ++e)
        for (std::ptrdiff_t offset : offsets_)
          look(problem.base[(displs[j] + static_cast<std::int64_t>(e)) * problem.extent + offset],
               static_cast<int>(j), k++);
  }

  Shape shape_;
  std::vector<std::vector<std::uint64_t>> sizes_;  // by sender and receiver
  std::vector<std::ptrdiff_t> offsets_;
  std::vector<std::byte> before_;
};

class GeneralInPlace : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    comm = std::make_shared<const OwnedComm>(made);
  }

  std::unique_ptr<GeneralExchange> make(const Buffer& buffer, std::uint64_t memory,
                                        int first_tag = 0) const {
    WaitPolicy wait;
    wait.crowded = world_size() > 1;
    auto exchange =
        std::make_unique<GeneralExchange>(comm, first_tag, buffer.problem, memory, wait);
    EXPECT_LE(exchange->scratch_bytes(), std::max<std::uint64_t>(memory, 1));
    EXPECT_EQ(exchange->bytes(), buffer.sent());
    return exchange;
  }

  void expect_exchanged(Buffer& buffer, GeneralExchange& exchange, std::uint64_t rounds) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      buffer.fill(round);
      exchange.start();
      if ((round + static_cast<unsigned>(world_rank())) % 2)
        exchange.wait();
      else
        while (!exchange.test()) {
        }
      buffer.check(round);
      EXPECT_LE(exchange.bytes_parked(),
                buffer.sent() + 24 * buffer.problem.send_counts[world_rank()]);
    }
  }

  std::shared_ptr<const OwnedComm> comm;
};

TEST_F(GeneralInPlace, RandomCasesInMemoryFromOneByteUp) {
  constexpr std::uint64_t memories[] = {0, 1, 7, 64, 600, 5000, 100000, std::uint64_t{1} << 40};
  for (unsigned seed = 0; seed < 32; ++seed) {
    SCOPED_TRACE(seed);
    Random common(seed), mine(seed * 1000 + static_cast<unsigned>(world_rank()));
    Shape shape;
    // a message per byte where buffers are full: short ones, then
    const bool few_bytes = seed % 4 == 0;
    shape.most = few_bytes ? (world_size() > 3 ? 1 : 2) : common() % 3 ? 12 : 60;
    shape.full = static_cast<int>(common() % 3);
    Buffer buffer(common, mine, shape, seed % 2 ? static_cast<int>(mine() % styles) : 0);
    const auto exchange = make(buffer, memories[few_bytes ? seed / 4 % 3 : pick(mine, 3, 7)]);
    expect_exchanged(buffer, *exchange, 3);
    if (!test::everywhere(!HasFailure())) return;
  }
}

// Pieces of full length, messages too long to be sent before they are asked for.
// Half of the cases, and the other half with one rank more.
TEST_F(GeneralInPlace, LongBlocks) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const unsigned half = (seed + seed / 5 + static_cast<unsigned>(world_size())) % 2;
    if (half != 0 && std::getenv("TONARI_TEST_EVERY_CASE") == nullptr) continue;
    SCOPED_TRACE(seed);
    Random common(seed + 70), mine(seed * 1000 + static_cast<unsigned>(world_rank()));
    Shape shape;
    shape.most = 60000 / static_cast<unsigned>(world_size());
    shape.full = static_cast<int>(seed % 3);
    Buffer buffer(common, mine, shape, static_cast<int>(seed / 2 % styles));
    const auto exchange = make(buffer, seed % 2 ? 1 << 20 : pick(mine, 4000, 400000));
    expect_exchanged(buffer, *exchange, 2);
    if (!test::everywhere(!HasFailure())) return;
  }
}

TEST_F(GeneralInPlace, SeveralAtOnce) {
  constexpr int many = 4;
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Random common(seed), mine(seed * 1000 + static_cast<unsigned>(world_rank()));
    std::vector<Buffer> buffers;
    std::vector<std::unique_ptr<GeneralExchange>> exchanges;
    for (int k = 0; k < many; ++k) {
      buffers.emplace_back(common, mine, Shape{30, k % 3, static_cast<unsigned>(k)},
                           static_cast<int>(mine() % styles));
      exchanges.push_back(make(buffers.back(), pick(mine, 500, 5000), k * GeneralExchange::tags));
    }
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (int k = 0; k < many; ++k) buffers[k].fill(round), exchanges[k]->start();
      std::vector<bool> done(many, false);
      while (std::count(done.begin(), done.end(), true) < many) {
        const int k = static_cast<int>(mine() % many);
        done[k] = exchanges[k]->test();
      }
      for (Buffer& buffer : buffers) buffer.check(round);
    }
    if (!test::everywhere(!HasFailure())) return;
  }
}

TEST_F(GeneralInPlace, NothingToMove) {
  Random common(1), mine(1);
  Buffer buffer(common, mine, Shape{0, 0, 0}, 0);
  const auto exchange = make(buffer, 1000);
  EXPECT_EQ(exchange->messages(), 0);
  EXPECT_EQ(exchange->scratch_bytes(), 0u);
  expect_exchanged(buffer, *exchange, 2);
}

TEST_F(GeneralInPlace, NegativeDisplacementsAndSizesThatDoNotFitAreRefused) {
  Random common(1), mine(1);
  const Buffer buffer(common, mine, Shape{}, 0);
  const auto code = [&](auto change) {
    GeneralProblem problem = buffer.problem;
    change(problem);
    try {
      GeneralExchange(comm, 0, problem, 1, {});
    } catch (const Error& error) {
      return error.code();
    }
    return Errc::success;
  };
  EXPECT_EQ(code([](GeneralProblem&) {}), Errc::success);
  EXPECT_EQ(code([](GeneralProblem& p) { p.recv_displs[0] = -1; }), Errc::argument);
  EXPECT_EQ(code([](GeneralProblem& p) { p.send_displs[0] = INT64_MAX; }), Errc::overflow);
  EXPECT_EQ(code([](GeneralProblem& p) { p.send_counts[0] = UINT64_MAX / 3; }), Errc::overflow);
  if (world_size() == 1) return;
  EXPECT_EQ(code([](GeneralProblem& p) {
              p.send_counts[0] = p.send_counts[1] = 3, p.send_displs[0] = 10, p.send_displs[1] = 12;
            }),
            Errc::buffers);
}

}  // namespace
