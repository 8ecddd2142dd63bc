// SPDX-License-Identifier: BSD-3-Clause
// A small MPI program for tests/python/test_peers.py: exchanges between all ranks while something
// goes wrong. What each rank has seen goes into a file of JSON per rank, in the folder
// TONARI_PEERS_REPORTS.
//
//   tonari_peers exchange [--bytes n] [--exchanges n]   verified exchanges; says what carried them
//                kill                                   the last rank kills itself in the middle of
//                                                       an exchange; the others go on until they
//                                                       get an error
//                leave                                  the last rank frees its request, the others
//                                                       start another exchange
//                quiet                                  8-byte exchanges between two marker system
//                                                       calls
//                change                                 rank 0 gives up a one-shot call because the
//                                                       last rank has left, and changes its blocks
//                                                       before rank 1 has read its own
//                npy from to                            loads a file of a grid of 24 x 16 x 40
//                                                       doubles and saves it again
//                chaos --kind k --deed kill|stop|halt|late --seed n [--within n]
//                                                       bad luck at random times, in so many
//                                                       microseconds (tests/peers/chaos.hpp)
//                chaos --deed making-die|remaking-die|first-die|first-halt|first-late|hung ...
//                      --call MPI_... [--calls n]       bad luck in such a call of the MPI, after n
//   --grid                ghosts of a grid that are the neighbors' pages, instead
//   --once                one-shot calls instead of a request; who leaves frees the neighborhood
//   --vector              one-shot calls on a vector, instead; who leaves frees that
//   --threads single      MPI_Init instead of MPI_Init_thread
//   --refuse              this process may not read the memory of others
//   --shm-dir path        only the last rank gets it, as TONARI_SHM_DIR
#include <mpi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <tonari/grid.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "memory/limits.hpp"
#include "peers/chaos.hpp"
#include "peers/report.hpp"

namespace {

using namespace tonari::test;
using Word = std::uint64_t;

struct Options {
  std::string mode, shm_dir, threads = "multiple";
  int bytes = 8, exchanges = 100;
  bool refuse = false, in_place = false, grid = false, once = false, vector = false;
  Chaos chaos;
};

Options read_options(int argc, char** argv) {
  Options o;
  o.mode = argc > 1 ? argv[1] : "";
  for (int k = 2; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--refuse")
      o.refuse = true;
    else if (word == "--in-place")
      o.in_place = true;
    else if (word == "--grid")
      o.grid = true;
    else if (word == "--once")
      o.once = true;
    else if (word == "--vector")
      o.vector = true;
    else if (k + 1 < argc && word == "--bytes")
      o.bytes = std::atoi(argv[++k]), o.chaos.words = o.bytes / static_cast<int>(sizeof(Word));
    else if (k + 1 < argc && word == "--exchanges")
      o.exchanges = o.chaos.exchanges = std::atoi(argv[++k]);
    else if (k + 1 < argc && word == "--kind")
      o.chaos.kind = argv[++k];
    else if (k + 1 < argc && word == "--deed")
      o.chaos.deed = argv[++k];
    else if (k + 1 < argc && word == "--seed")
      o.chaos.seed = std::strtoull(argv[++k], nullptr, 10);
    else if (k + 1 < argc && word == "--within")
      o.chaos.within = std::atoi(argv[++k]);
    else if (k + 1 < argc && word == "--call")
      o.chaos.call = argv[++k];
    else if (k + 1 < argc && word == "--calls")
      o.chaos.calls = std::atoi(argv[++k]);
    else if (k + 1 < argc && word == "--threads")
      o.threads = argv[++k];
    else if (k + 1 < argc && word == "--shm-dir")
      o.shm_dir = argv[++k];
  }
  return o;
}

class Program {
 public:
  explicit Program(const Options& options) : o_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::vector<int> others;
    for (int r = 0; r < size_; ++r)
      if (r != rank_) others.push_back(r);
    const int n = size_ - 1;
    words_ = static_cast<std::size_t>(o_.bytes) / sizeof(Word);
    if (o_.grid) {
      make_grid();
      return;
    }
    if (o_.in_place) {
      in_.resize(words_ * static_cast<std::size_t>(size_));
      must(tonari_alltoall_inplace_init(in_.data(), static_cast<int>(words_), MPI_UINT64_T,
                                        MPI_COMM_WORLD, MPI_INFO_NULL, &request_));
      description_ = tonari_request_describe(request_);
      return;
    }
    out_.resize(words_ * static_cast<std::size_t>(n)), in_.resize(out_.size());
    if (o_.vector) {
      make_vector(others);
      return;
    }
    must(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, others.data(), MPI_UNWEIGHTED, n,
                                             others.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near_));
    if (o_.once) return;
    must(tonari_alltoall_init(out_.data(), static_cast<int>(words_), MPI_UINT64_T, in_.data(),
                              static_cast<int>(words_), MPI_UINT64_T, near_, MPI_INFO_NULL,
                              &request_));
    description_ = tonari_request_describe(request_);
  }

  int run() {
    if (o_.mode == "exchange")
      exchange_all(o_.exchanges);
    else if (o_.mode == "quiet")
      quiet();
    else if (o_.mode == "kill")
      until_error([] { raise(SIGKILL); });
    else if (o_.mode == "leave")
      until_error([this] { leave(); });
    else
      return 2;
    report();
    if (o_.mode == "kill") _exit(0);  // the MPI would wait for the dead
    if (near_) must(tonari_neighborhood_free(&near_));
    MPI_Finalize();
    return wrong_ > 0;
  }

 private:
  static void must(int code) {
    if (code == TONARI_SUCCESS) return;
    std::fprintf(stderr, "tonari_peers: %s\n", tonari_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bool last() const { return rank_ == size_ - 1; }
  // In place there is a block for every rank, else for every other.
  int blocks() const { return o_.in_place ? size_ : size_ - 1; }
  int peer(int block) const { return block + (!o_.in_place && block >= rank_); }
  static Word content(int from, int to, int exchange, std::size_t k) {
    return (static_cast<Word>(from) << 48 | static_cast<Word>(to) << 40) +
           static_cast<Word>(exchange) * 1'000'003 + k;
  }

  void fill(int exchange) {
    std::vector<Word>& from = o_.in_place ? in_ : out_;
    for (int i = 0; i < blocks(); ++i)
      for (std::size_t k = 0; k < words_; ++k)
        from[static_cast<std::size_t>(i) * words_ + k] = content(rank_, peer(i), exchange, k);
  }
  void verify(int exchange) {
    for (int i = 0; i < blocks(); ++i)
      for (std::size_t k = 0; k < words_; ++k)
        wrong_ +=
            in_[static_cast<std::size_t>(i) * words_ + k] != content(peer(i), rank_, exchange, k);
  }

  // Each has as much for every other.
  void make_vector(const std::vector<int>& others) {
    const auto n = static_cast<int>(others.size());
    const std::vector<int> counts(others.size(), static_cast<int>(words_));
    std::vector<int> places(out_.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
    must(tonari_vector_create_from_neighbors(
        MPI_COMM_WORLD, static_cast<std::int64_t>(out_.size()), n, others.data(), counts.data(),
        places.data(), n, others.data(), counts.data(), nullptr, MPI_INFO_NULL, &vector_));
  }

  int exchange_once() {
    const auto count = static_cast<int>(words_);
    if (o_.once)
      return tonari_alltoall(out_.data(), count, MPI_UINT64_T, in_.data(), count, MPI_UINT64_T,
                             near_);
    tonari_vector_values values{};
    values.type = MPI_UINT64_T;
    return tonari_vector_forward(vector_, &values, out_.data(), in_.data());
  }

  // What this rank exchanges with.
  void leave() {
    must(tonari_request_free(&request_));
    if (o_.once) must(tonari_neighborhood_free(&near_));
    if (o_.vector) must(tonari_vector_free(&vector_));
  }

  // A ring of subdomains, each as wide as its ghosts.
  void make_grid() {
    const int periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size_, &periodic, 0, &ring);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.type = MPI_UINT64_T, shape.storage = TONARI_STORAGE_MAPPED,
    shape.copies = 2, shape.mapped_ghosts = 1;
    shape.brick[0] = shape.lower[0] = static_cast<std::int64_t>(words_),
    shape.cells[0] = shape.lower[0] * size_;
    must(tonari_grid_create(ring, &shape, nullptr, MPI_INFO_NULL, &grid_));
    must(tonari_grid_exchange_init(grid_, 0, MPI_INFO_NULL, &request_));
    must(tonari_grid_exchange_init(grid_, 1, MPI_INFO_NULL, &other_));
    description_ = tonari_request_describe(request_);
  }
  int exchange_ghosts(int number) {
    const int copy = number % 2, left = (rank_ + size_ - 1) % size_;
    std::vector<Word> cells(words_);
    for (std::size_t k = 0; k < words_; ++k) cells[k] = content(rank_, 0, number, k);
    must(tonari_grid_import(grid_, 0, copy, 0, nullptr, cells.data()));
    const tonari_request request = copy ? other_ : request_;
    if (const int code = tonari_start(request)) return code;
    if (const int code = tonari_wait(request)) return code;
    const tonari_box ghosts{{-static_cast<std::int64_t>(words_)}, {0}};
    must(tonari_grid_export(grid_, 0, copy, 0, &ghosts, cells.data()));
    for (std::size_t k = 0; k < words_; ++k) wrong_ += cells[k] != content(left, 0, number, k);
    return TONARI_SUCCESS;
  }

  int exchange(int number) {
    if (o_.grid) return exchange_ghosts(number);
    fill(number);
    if (o_.once || o_.vector) {
      if (const int code = exchange_once()) return code;
    } else {
      if (const int code = tonari_start(request_)) return code;
      if (const int code = tonari_wait(request_)) return code;
    }
    verify(number);
    return TONARI_SUCCESS;
  }
  void exchange_all(int number) {
    for (int k = 0; k < number && code_ == TONARI_SUCCESS; ++k) note(exchange(k));
    if (code_ == TONARI_SUCCESS) leave();
  }

  // After some exchanges the last rank does what no other expects, when the others have started the
  // next one.
  template <class Deed>
  void until_error(Deed deed) {
    for (int k = 0; k < 40; ++k) must(exchange(k));
    // nobody is still in one of these when the last rank goes, however busy the machine is
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    if (last()) {
      usleep(50'000);
      deed();
      return;
    }
    // With a rank that sends its part and then goes two exchanges may be complete before it is
    // missed.
    for (int k = 40; k < 50 && code_ == TONARI_SUCCESS; ++k) note(exchange(k));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    leave();
  }

  void quiet() {
    exchange_all_warm();
    syscall(SYS_getpgid, 424242);
    for (int k = 0; k < 1000 && code_ == TONARI_SUCCESS; ++k) note(exchange(k));
    syscall(SYS_getpgid, 424243);
    must(tonari_request_free(&request_));
  }
  void exchange_all_warm() {
    for (int k = 0; k < 1000; ++k) must(exchange(k));
  }

  void note(int code) {
    if (code == TONARI_SUCCESS) return;
    code_ = code;
    sentence_ = tonari_last_error();
  }

  void report() const {
    PeerReport report{rank_, code_, 0, wrong_, seconds_, sentence_, description_};
    report.write();
  }

  Options o_;
  int rank_ = 0, size_ = 1, code_ = 0;
  std::size_t words_ = 0;
  long wrong_ = 0;
  double seconds_ = 0;
  std::vector<Word> out_, in_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL, other_ = TONARI_REQUEST_NULL;
  tonari_grid grid_ = TONARI_GRID_NULL;
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  std::string sentence_, description_;
};

int copy_npy(const char* from, const char* to) {
  int ranks = 1, sizes[3] = {}, periodic[3] = {};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, sizes);
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periodic, 0, &cart);
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 3, shape.type = MPI_DOUBLE, shape.storage = TONARI_STORAGE_BRICK;
  for (int k = 0; k < 3; ++k) shape.brick[k] = shape.lower[k] = shape.upper[k] = 4;
  shape.cells[0] = 24, shape.cells[1] = 16, shape.cells[2] = 40;
  tonari_grid grid = TONARI_GRID_NULL;
  int code = tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid);
  if (code == TONARI_SUCCESS) code = tonari_grid_load(grid, 0, 0, from);
  if (code == TONARI_SUCCESS) code = tonari_grid_save(grid, 0, 0, to);
  if (code != TONARI_SUCCESS) std::fprintf(stderr, "tonari_peers: %s\n", tonari_last_error());
  tonari_grid_free(&grid);
  MPI_Finalize();
  return code;
}

// Of three ranks, rank 0 alone sends: to both others. Tells what rank 1 has received at last.
int change_what_was_given_up() {
  int rank = 0, code = TONARI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int to[] = {1, 2}, from[] = {0};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, rank > 0, from, MPI_UNWEIGHTED,
                                      rank > 0 ? 0 : 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, &near);
  constexpr int words = 1 << 17;  // they are read where they lie
  std::vector<Word> out(2 * words, 1), in(words);
  const auto exchange = [&] {
    return tonari_alltoall(out.data(), words, MPI_UINT64_T, in.data(), words, MPI_UINT64_T, near);
  };
  exchange();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) sleep(3);
  std::fill(out.begin(), out.end(), 2);
  if (rank < 2) code = exchange();
  std::fill(out.begin(), out.end(), 3);
  tonari_neighborhood_free(&near);
  const auto wrong = std::count_if(in.begin(), in.end(), [](Word word) { return word != 2; });
  if (const char* const folder = std::getenv("TONARI_PEERS_REPORTS"); folder && rank == 1)
    std::ofstream(std::string(folder) + "/1")
        << "{\"rank\": 1, \"peer_error\": " << (code == TONARI_ERR_PEER ? "true" : "false")
        << ", \"code\": " << code << ", \"wrong\": " << wrong << "}\n";
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  std::optional<RankBesideAnother> beside;
  if (options.mode == "kill") beside.emplace();
  if (options.mode == "chaos") beside.emplace(options.chaos.what_to_do());
  alarm(60);  // never hangs
  if (options.refuse && !tonari::test::refuse(SYS_process_vm_readv, EPERM)) return 77;
  int provided = 0;
  if (options.threads == "single")
    MPI_Init(&argc, &argv);
  else
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  signal(SIGUSR1, SIG_IGN);  // as in signals.hpp; the MPI may have made it the default again
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!options.shm_dir.empty() && rank == size - 1)
    setenv("TONARI_SHM_DIR", options.shm_dir.c_str(), 1);
  if (options.mode == "npy" && argc == 4) return copy_npy(argv[2], argv[3]);
  if (options.mode == "chaos") return run_chaos(options.chaos, *beside);
  if (options.mode == "change") return change_what_was_given_up();
  return Program(options).run();
}
