// Store and forward on a virtual process topology (O. Selvitopi and C. Aykanat, "Regularizing irregularly sparse point-to-point communications", SC 2019;
// paper 003, §3.3), the thesis's baseline: ranks are points of a mesh of n dimensions, a block takes one hop per dimension in which origin and target differ,
// in the order of the dimensions, and in each stage all that goes to one neighbour is one message. At most sum of (size - 1) messages.
//
//       (0,0) ---> (0,2)     dimension 0 first (the digit that counts least), then 1
//                    |
//       (1,0)      (1,2)
//
// P not a power of two. Sizes are an exact factorisation of P where there is one in which no size is over twice another; else the mesh is the smallest that
// has room, as even as can be, and its last points are missing: the end of the last dimension. A block whose next point is missing goes to the one before
// it in the last dimension, and stays in that layer until the last stage. So the rank sends no more messages than if nothing were missing: what it would have
// sent to the missing point goes to one that is there. Nobody receives in a stage from more than twice as many as without.
#pragma once

#include "sharing/routes.hpp"

namespace tonari {

// As even as possible, descending: neighbours along the first dimension have near numbers, and in most patterns more to say. 1 <= n <= max(1, floor(log2 ranks)). Throws Errc::argument otherwise.
std::vector<int> virtual_topology(int ranks, int n);

int most_dimensions(int ranks);  // max(1, floor(log2 ranks))

// sizes[0] belongs to the digit of a rank's number that counts least. Throws Errc::argument unless each is at least 1 and all but the last layer exists.
Routes forward_routes(const CommunicationMatrix& matrix, std::span<const int> sizes);

MessageSchedule store_and_forward(const CommunicationMatrix& matrix, int n);

}  // namespace tonari
