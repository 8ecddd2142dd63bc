// SPDX-License-Identifier: BSD-3-Clause
// What runs on devices of CUDA. The library holds this file as text and lets NVRTC compile it, so
// it includes nothing; the tests compile it with nvcc, and with the host's compiler to run it.

// As tonari::Move (copy/moves.hpp). A table has moves of at most a few thousand bytes.
struct Move {
  unsigned char* to;
  const unsigned char* from;
  unsigned long long length, count;
  long long to_stride, from_stride;
};

// As tonari::cuda::FlagList.
struct FlagList {
  struct {
    unsigned long long* flag;
    unsigned long long value;
  } of[16];
  unsigned count;
};

struct alignas(16) SixteenBytes {
  unsigned long long first, second;
};

// Loads of a thread that are under way at once, before it stores any of them.
constexpr unsigned at_once = 4;

template <class Word>
__device__ void move_words(const Move& move) {
  const unsigned per_piece = static_cast<unsigned>(move.length / sizeof(Word));
  const unsigned words = per_piece * static_cast<unsigned>(move.count);
  const auto from = [&](unsigned word) {
    const unsigned piece = move.count == 1 ? 0 : word / per_piece;
    return reinterpret_cast<const Word*>(move.from + piece * move.from_stride) +
           (word - piece * per_piece);
  };
  const auto to = [&](unsigned word) {
    const unsigned piece = move.count == 1 ? 0 : word / per_piece;
    return reinterpret_cast<Word*>(move.to + piece * move.to_stride) + (word - piece * per_piece);
  };
  for (unsigned first = threadIdx.x; first < words; first += at_once * blockDim.x) {
    Word held[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (const unsigned word = first + k * blockDim.x; word < words) held[k] = *from(word);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (const unsigned word = first + k * blockDim.x; word < words) *to(word) = held[k];
  }
}

// One block per move of a table, in the widest words that its addresses, lengths and strides allow.
extern "C" __global__ void move_tiles(const Move* table) {
  const Move move = table[blockIdx.x];
  unsigned long long bits = reinterpret_cast<unsigned long long>(move.to) |
                            reinterpret_cast<unsigned long long>(move.from) | move.length;
  if (move.count > 1) bits |= move.to_stride | move.from_stride;
  if (bits % 16 == 0)
    move_words<SixteenBytes>(move);
  else if (bits % 8 == 0)
    move_words<unsigned long long>(move);
  else if (bits % 4 == 0)
    move_words<unsigned>(move);
  else if (bits % 2 == 0)
    move_words<unsigned short>(move);
  else
    move_words<unsigned char>(move);
}

// ---- flags, by one thread, where streams have no operations for them

extern "C" __global__ void write_flags(FlagList flags) {
  for (unsigned k = 0; k < flags.count; ++k) {
    __threadfence_system();
    *static_cast<volatile unsigned long long*>(flags.of[k].flag) = flags.of[k].value;
  }
}

// Until each flag is at least its value: the difference, as a signed number, is not negative.
extern "C" __global__ void wait_flags(FlagList flags) {
  for (unsigned k = 0; k < flags.count; ++k) {
    const volatile unsigned long long* const flag = flags.of[k].flag;
    while (static_cast<long long>(*flag - flags.of[k].value) < 0) {
#if __CUDA_ARCH__ >= 700
      __nanosleep(100);
#endif
    }
  }
  __threadfence_system();
}
