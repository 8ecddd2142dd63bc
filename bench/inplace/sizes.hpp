// SPDX-License-Identifier: BSD-3-Clause
// How many 64-bit integers each pair of ranks exchanges.
#pragma once

#include <vector>

namespace bench::inplace {

// sizes[i][j]: integers that rank i sends to rank j.
using Sizes = std::vector<std::vector<long long>>;

// Hofmann and Ruenger 2013, section 4.1: "the size of the data each pair of processes exchanges
// with each other is chosen uniformly random", and "the total size of the data of each process is
// the same for all". The paper does not say how both come together. Here: u(i, j) = u(j, i) uniform
// in (0, 1), the block of a rank for itself included. A symmetric matrix of positive numbers can be
// scaled from both sides by one vector d so that all rows have the same sum (Sinkhorn 1964): sizes
// = floor(d_i u(i, j) d_j), which stays symmetric; what rounding took goes to the rank's block for
// itself. So each rank has exactly `total` integers. With equal, u = 1.
Sizes symmetric_sizes(int ranks, long long total, unsigned seed, bool equal);

// A redistribution: u(i, j) and u(j, i) are independent, each row is scaled to `total` by itself.
// Every rank sends so much; what it receives differs.
Sizes general_sizes(int ranks, long long total, unsigned seed);

}  // namespace bench::inplace
