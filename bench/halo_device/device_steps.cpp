// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/device_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace bench::halo {

using namespace tonari;

namespace {

// By the class of a point's offset; as of tonari::star<3, 1>() and tonari::box<3, 2>().
constexpr std::array<double, 10> of_seven{0.4, 0.1};
constexpr std::array<double, 10> of_full{0.2,   0.05,  0.02,  0.01,  0.007,
                                         0.005, 0.003, 0.002, 0.001, 0.0005};

int class_of(std::array<int, 3> offset) {
  constexpr std::array<std::array<int, 3>, 10> classes{{{0, 0, 0},
                                                        {0, 0, 1},
                                                        {0, 0, 2},
                                                        {0, 1, 1},
                                                        {0, 1, 2},
                                                        {0, 2, 2},
                                                        {1, 1, 1},
                                                        {1, 1, 2},
                                                        {1, 2, 2},
                                                        {2, 2, 2}}};
  for (int& each : offset) each = std::abs(each);
  std::ranges::sort(offset);
  return static_cast<int>(std::ranges::find(classes, offset) - classes.begin());
}

}  // namespace

DeviceSteps::DeviceSteps(Place& place, int points, DeviceCube& in, DeviceCube& out)
    : place_(place),
      stencil_{points, in.storage() != DeviceStorage::array},
      in_(in),
      out_(out),
      held_(place.device()) {
  stream_ = held_.stream(0);
  const long long edge = in.shape().size + 2 * in.shape().ghost;
  call_.in = reinterpret_cast<const double*>(in.base());
  call_.out = reinterpret_cast<double*>(out.base());
  call_.plane = edge * edge, call_.row = edge;
  call_.size = static_cast<int>(in.shape().size);
  std::ranges::copy(points == 7 ? of_seven : of_full, call_.coefficients);
  if (stencil_.bricks)
    upload_table();
  else
    call_.in += in.at(0, 0, 0), call_.out += out.at(0, 0, 0);
}

void DeviceSteps::upload_table() {
  const BrickLayout& bricks = in_.bricks();
  call_.size = bricks.own_count();
  const auto upload = [&](const auto& values) {
    const Bytes bytes = values.size() * sizeof values.front();
    HeldOnDevice pinned(place_.device());
    std::byte* const from = pinned.allocate(MemoryKind::pinned, 0, bytes);
    std::byte* const to = held_.allocate(MemoryKind::device, 0, bytes);
    std::memcpy(from, values.data(), bytes);
    place_.device().copy(stream_, to, from, bytes);
    place_.device().synchronize(stream_);
    return to;
  };
  call_.neighbors = reinterpret_cast<const std::int32_t*>(upload(bricks.neighbors()));
  call_.place = reinterpret_cast<const long long*>(upload(bricks.place()));
}

double DeviceSteps::expected(long long z, long long y, long long x) const {
  const int radius = stencil_.points == 7 ? 1 : 2;
  double sum = 0;
  for (int dz = -radius; dz <= radius; ++dz)
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx) {
        if (stencil_.points == 7 && std::abs(dz) + std::abs(dy) + std::abs(dx) > 1) continue;
        const auto at = static_cast<std::size_t>(in_.at(z + dz, y + dy, x + dx));
        sum += call_.coefficients[class_of({dz, dy, dx})] * in_.filled()[at];
      }
  return sum;
}

bool DeviceSteps::verify() {
  in_.write(in_.filled());
  put(stream_);
  place_.device().synchronize(stream_);
  const std::vector<double> got = out_.read();
  std::mt19937_64 random(7);
  const auto n = static_cast<std::uint64_t>(in_.shape().size);
  for (int k = 0; k < 100'000; ++k) {
    const auto c = [&] { return static_cast<long long>(random() % n); };
    const long long z = c(), y = c(), x = c();
    const double is = got[static_cast<std::size_t>(out_.at(z, y, x))];
    if (!(std::abs(is - expected(z, y, x)) < 1e-12)) return false;
  }
  return true;
}

std::string DeviceSteps::name() const { return "stencil-" + std::to_string(stencil_.points); }

}  // namespace bench::halo
