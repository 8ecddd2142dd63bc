// SPDX-License-Identifier: BSD-3-Clause
#include "channels/onesided/window.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>

#include "base/lasting.hpp"
#include "memory/memory.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

// A window is made a little larger than asked for, for its next user, of about the same size.
constexpr std::size_t most_spare = 64 * 1024;

// All windows of this process, oldest first. They are never destroyed: MPI_Finalize may run after
// the destructors of static objects.
struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Window>> windows;
  bool hooked = false;  // true once MPI_Finalize will free them
  bool freed = false;   // by MPI_Finalize, which frees no later ones
};

Registry& registry() { return lasting<Registry>(); }

void free_window(Window& window) {
  if (window.win == MPI_WIN_NULL) return;
  const InMpi in("MPI_Win_free");
  MPI_Win_unlock_all(window.win);
  MPI_Win_free(&window.win);
  window.win = MPI_WIN_NULL;
  window.base = nullptr;
  window.comm.reset();
}

// MPI calls it at the start of MPI_Finalize. A window is freed when all its ranks come to it, so
// all take them in one order.
int free_all_windows(MPI_Comm, int, void*, void*) {
  std::vector<std::shared_ptr<Window>> windows;
  {
    const std::lock_guard lock(registry().mutex);
    windows.swap(registry().windows);
    registry().freed = true;
  }
  std::ranges::sort(windows, {}, [](const auto& window) { return window->order; });
  for (const auto& window : windows) free_window(*window);
  return MPI_SUCCESS;
}

void enrol(const std::shared_ptr<Window>& window) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.windows.push_back(window);
  if (!all.hooked) all.hooked = call_in_finalize(free_all_windows);
}

void make_room() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.freed && world_runs())
    fail(Errc::mpi,
         "callbacks in MPI_Finalize cannot make windows, since nothing would free them; choose "
         "another channel there (TONARI_CHANNEL)");
  all.windows.reserve(all.windows.size() + 1);
}

void leave(const std::shared_ptr<Window>& window) {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().windows, window);
}

// A number that is not zero, and most probably no other process has it.
std::uint64_t process_number() {
  static const std::uint64_t number =
      std::uint64_t{std::random_device()()} << 32 | std::random_device()() | 1;
  return number;
}

std::array<std::uint64_t, 2> agree_on_order(MPI_Comm comm) {
  static std::atomic<std::uint64_t> made{0};
  std::array<std::uint64_t, 2> order{process_number(), ++made};
  broadcast(order.data(), 2, MPI_UINT64_T, 0, comm);
  return order;
}

void allocate(Window& window, MPI_Comm comm) {
  call_mpi("MPI_Win_allocate", [&] {
    return MPI_Win_allocate(static_cast<MPI_Aint>(window.bytes), 1, MPI_INFO_NULL, comm,
                            &window.base, &window.win);
  });
  check_mpi(MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
}

bool is_unified(MPI_Win win) {
  int *model = nullptr, found = 0;
  check_mpi(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found), "MPI_Win_get_attr");
  return found && *model == MPI_WIN_UNIFIED;
}

// `window` has all the memory of this rank that it needs.
void open_window(Window& window) {
  const MPI_Comm comm = window.comm->get();
  std::optional<Error> error = error_of([&] { allocate(window, comm); });
  if (error)
    error = error_of([&] {
      fail(Errc::mpi, "no window of ", window.bytes,
           " bytes for one-sided messages: ", error->what(), "; use another channel");
    });
  fail_together(comm, error);
  // Where one rank reads through MPI, those that write to it must write by atomic operations: one
  // model for all.
  int unified = is_unified(window.win);
  reduce_all(&unified, 1, MPI_INT, MPI_MIN, comm);
  window.unified = unified != 0;
  window.order = agree_on_order(comm);
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win), "MPI_Win_lock_all");
}

}  // namespace

void fail_together(MPI_Comm comm, const std::optional<Error>& error) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int lowest = error ? size - rank : 0;
  reduce_all(&lowest, 1, MPI_INT, MPI_MAX, comm);
  if (lowest == 0) return;
  char says[512] = {};
  if (error) std::string_view(error->what()).copy(says, sizeof says - 1);
  broadcast(says, sizeof says, MPI_CHAR, size - lowest, comm);
  const std::optional<Error> said =
      error_of([&] { fail(Errc::mpi, "rank ", size - lowest, ": ", says); });
  throw Error(Errc::mpi, said->what()).now_on_all_ranks();
}

// One bit for each of the 64 windows from the first on: nobody uses it, and all ranks have the
// memory that they need. Everything that was ever written into such a window has arrived.
std::uint64_t Windows::common(std::size_t first, std::size_t bytes) const {
  std::uint64_t bits = 0;
  for (std::size_t k = first; k < std::min(first + 64, all_.size()); ++k) {
    if (all_[k]->in_use || all_[k]->bytes < bytes || all_[k]->win == MPI_WIN_NULL) continue;
    call_mpi("MPI_Win_flush_all", [&] { return MPI_Win_flush_all(all_[k]->win); });
    bits |= std::uint64_t{1} << (k - first);
  }
  reduce_all(&bits, 1, MPI_UINT64_T, MPI_BAND, comm());
  return bits;
}

std::shared_ptr<Window> Windows::take(std::size_t bytes) {
  std::shared_ptr<Window> window;
  fail_together(comm(), std::nullopt);
  for (std::size_t first = 0; first < all_.size() && !window; first += 64)
    if (const std::uint64_t bits = common(first, bytes))
      window = all_[first + static_cast<std::size_t>(std::countr_zero(bits))];
  if (!window) window = make(bytes);
  std::memset(window->base, 0, window->bytes);
  check_mpi(MPI_Win_sync(window->win), "MPI_Win_sync");
  window->in_use = true;
  return {window.get(), [window](Window* mine) { mine->in_use = false; }};
}

std::shared_ptr<Window> Windows::make(std::size_t bytes) {
  trim();  // too small, the unused ones
  auto window = std::make_shared<Window>();
  window->bytes = round_up(std::max<std::size_t>(bytes + std::min(bytes / 4, most_spare), 1), 4096);
  window->comm = comm_;
  fail_together(comm(), error_of([&] {
                  make_room();
                  all_.reserve(all_.size() + 1);
                }));
  open_window(*window);
  enrol(window);
  all_.push_back(window);
  return window;
}

void Windows::trim() {
  std::size_t kept = 0;
  for (std::size_t first = 0, end = all_.size(); first < end; first += 64) {
    const std::uint64_t bits = common(first, 0);
    for (std::size_t k = first; k < std::min(first + 64, end); ++k)
      if (bits >> (k - first) & 1)
        leave(all_[k]), free_window(*all_[k]);
      else
        all_[kept++] = all_[k];
  }
  all_.resize(kept);
}

std::size_t Windows::alive() {
  const std::lock_guard lock(registry().mutex);
  return registry().windows.size();
}

}  // namespace tonari
