// SPDX-License-Identifier: BSD-3-Clause
// Stencils of 7 and of 125 points on arrays and on bricks of 8^3 cells (Zhao et al. 2021, sections 2
// and 7.2). The benchmark holds this file as text and lets NVRTC compile it, so it includes
// nothing; for devices without hardware the host's compiler does.
//
// A thread computes 8 cells one above the other, so it loads what they share once. Blocks have 256
// threads.

// As bench::halo::StencilCall.
struct Call {
  const double* in;  // arrays: cell (0, 0, 0); bricks: the base of the field
  double* out;
  long long plane, row;  // arrays: elements from a cell to the next one in z and in y
  const int* neighbors;  // bricks: 27 of each, as in tonari_bricks
  const long long* place;
  int size;  // arrays: cells along each dimension; bricks: how many are computed
  double coefficients[10];
};

constexpr int side = 8;  // of a brick, and cells of a thread

// Cells one above the other: so many below its own ones, and above.
struct Line {
  const double *below, *own, *above;
  long long step;
  __device__ double at(int z) const {
    return z < 0 ? below[(z + side) * step] : z < side ? own[z * step] : above[(z - side) * step];
  }
};

struct ArrayLines {
  const double* cell;
  long long plane, row;
  __device__ Line operator()(int dy, int dx) const {
    const double* const own = cell + dy * row + dx;
    return {own - side * plane, own, own + side * plane, plane};
  }
};

struct BrickLines {
  const double* in;
  const int* neighbors;
  const long long* place;
  int y, x;
  __device__ Line operator()(int dy, int dx) const {
    const int row = y + dy, column = x + dx;
    const int near = 3 * (row < 0 ? 0 : row < side ? 1 : 2) + (column < 0 ? 0 : column < side ? 1 : 2);
    const double* const base = in + (row & 7) * side + (column & 7);
    return {base + place[neighbors[near]], base + place[neighbors[9 + near]],
            base + place[neighbors[18 + near]], side * side};
  }
};

// The coefficients of center and neighbors, as tonari::star<3, 1>() has them.
template <class Lines>
__device__ void seven(const Lines& lines, const double* c, double* out, long long step) {
  const Line own = lines(0, 0), south = lines(-1, 0), north = lines(1, 0), west = lines(0, -1),
             east = lines(0, 1);
  double column[side + 2];
#pragma unroll
  for (int z = 0; z < side + 2; ++z) column[z] = own.at(z - 1);
#pragma unroll
  for (int z = 0; z < side; ++z)
    out[z * step] = c[0] * column[z + 1] +
                    c[1] * ((column[z] + column[z + 2]) + (south.at(z) + north.at(z)) +
                            (west.at(z) + east.at(z)));
}

// The class of an offset, up to signs and order, as tonari::box<3, 2>() numbers them.
__device__ constexpr int class_of(int a, int b, int c) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  if (c < 0) c = -c;
  const int ones = (a == 1) + (b == 1) + (c == 1), twos = (a == 2) + (b == 2) + (c == 2);
  return ones == 0 ? (twos == 0 ? 0 : twos == 1 ? 2 : twos == 2 ? 5 : 9)
         : ones == 1 ? (twos == 0 ? 1 : twos == 1 ? 4 : 8)
         : ones == 2 ? (twos == 0 ? 3 : 7)
                     : 6;
}

template <class Lines>
__device__ void full(const Lines& lines, const double* c, double* out, long long step) {
  double sums[side] = {};
#pragma unroll
  for (int dy = -2; dy <= 2; ++dy)
#pragma unroll
    for (int dx = -2; dx <= 2; ++dx) {
      const Line line = lines(dy, dx);
#pragma unroll
      for (int z = -2; z < side + 2; ++z) {
        const double value = line.at(z);
#pragma unroll
        for (int dz = -2; dz <= 2; ++dz)
          if (z - dz >= 0 && z - dz < side) sums[z - dz] += c[class_of(dz, dy, dx)] * value;
      }
    }
#pragma unroll
  for (int z = 0; z < side; ++z) out[z * step] = sums[z];
}

// A block has 32 x 8 columns of an array, and a brick has 64 threads.
struct OnArray {
  bool any;
  long long cell;
  __device__ explicit OnArray(const Call& call) {
    const unsigned wide = (call.size + 31) / 32, high = call.size / side;
    const unsigned x = blockIdx.x % wide * 32 + threadIdx.x % 32;
    const unsigned y = blockIdx.x / wide % high * side + threadIdx.x / 32;
    any = x < static_cast<unsigned>(call.size);
    cell = blockIdx.x / (wide * high) * side * call.plane + y * call.row + x;
  }
};
struct OnBricks {
  bool any;
  int brick, y, x;
  __device__ explicit OnBricks(const Call& call)
      : brick(blockIdx.x * 4 + threadIdx.x / 64),
        y(threadIdx.x / side % side),
        x(threadIdx.x % side) {
    any = brick < call.size;
  }
  __device__ BrickLines lines(const Call& call) const {
    return {call.in, call.neighbors + 27 * brick, call.place, y, x};
  }
  __device__ double* out(const Call& call) const {
    return call.out + call.place[brick] + y * side + x;
  }
};

extern "C" __global__ void seven_on_array(Call call) {
  const OnArray on(call);
  if (on.any)
    seven(ArrayLines{call.in + on.cell, call.plane, call.row}, call.coefficients,
          call.out + on.cell, call.plane);
}

extern "C" __global__ void seven_on_bricks(Call call) {
  const OnBricks on(call);
  if (on.any) seven(on.lines(call), call.coefficients, on.out(call), side * side);
}

extern "C" __global__ void full_on_array(Call call) {
  const OnArray on(call);
  if (on.any)
    full(ArrayLines{call.in + on.cell, call.plane, call.row}, call.coefficients,
         call.out + on.cell, call.plane);
}

extern "C" __global__ void full_on_bricks(Call call) {
  const OnBricks on(call);
  if (on.any) full(on.lines(call), call.coefficients, on.out(call), side * side);
}
