// The six operations: each brings its arguments into one form.
#include <limits>

#include "api/guard.hpp"
#include "api/request.hpp"
#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

MPI_Aint extent(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  return extent;
}

// One side of an operation, as the caller gave it.
struct Side {
  const char* name;  // "send" or "receive"
  const void* buffer;
  std::size_t blocks;

  TypedBlock block(std::size_t i, int count, MPI_Datatype type, MPI_Aint displacement) const {
    if (count < 0) fail(Errc::argument, name, " count ", i, " is ", count, "; counts must not be negative");
    if (type == MPI_DATATYPE_NULL) fail(Errc::argument, name, " type ", i, " is MPI_DATATYPE_NULL");
    return {displacement, count, type};
  }
  void check(const void* counts, const void* displacements, const void* types) const {
    if (buffer == MPI_IN_PLACE) fail(Errc::argument, "MPI_IN_PLACE has no meaning in a neighborhood collective");
    if (blocks > 0 && !counts) fail(Errc::argument, "the array of ", name, " counts is null");
    if (blocks > 0 && !displacements) fail(Errc::argument, "the array of ", name, " displacements is null");
    if (blocks > 0 && !types) fail(Errc::argument, "the array of ", name, " types is null");
  }
  // count elements each, one block after the other
  std::vector<TypedBlock> regular(int count, MPI_Datatype type) const {
    check(this, this, this);
    std::vector<TypedBlock> all;
    if (blocks == 0) return all;
    all.reserve(blocks);
    const TypedBlock first = block(0, count, type, 0);
    const MPI_Aint step = checked_multiply<MPI_Aint>(extent(type), count, "size of a block");
    checked_multiply<MPI_Aint>(step, static_cast<MPI_Aint>(blocks), "size of the buffer");
    for (std::size_t i = 0; i < blocks; ++i) all.push_back({step * static_cast<MPI_Aint>(i), first.count, first.type});
    return all;
  }
  std::vector<TypedBlock> v(const int counts[], const MPI_Aint displacements[], MPI_Datatype type) const {
    check(counts, displacements, this);
    if (blocks > 0 && type == MPI_DATATYPE_NULL) fail(Errc::argument, "the ", name, " type is MPI_DATATYPE_NULL");
    std::vector<TypedBlock> all;
    const MPI_Aint unit = blocks > 0 ? extent(type) : 0;
    for (std::size_t i = 0; i < blocks; ++i) all.push_back(block(i, counts[i], type, checked_multiply(displacements[i], unit, "displacement")));
    return all;
  }
  std::vector<TypedBlock> w(const int counts[], const MPI_Aint displacements[], const MPI_Datatype types[]) const {
    check(counts, displacements, types);
    std::vector<TypedBlock> all;
    for (std::size_t i = 0; i < blocks; ++i) all.push_back(block(i, counts[i], types[i], displacements[i]));
    return all;
  }
};

// The blocks in the order of the neighbourhood that was recognised. Blocks that the program does not have are empty.
std::vector<TypedBlock> reordered(const std::vector<TypedBlock>& blocks, const std::vector<std::int32_t>& numbers) {
  std::vector<TypedBlock> ours;
  for (std::int32_t number : numbers) ours.push_back(number < 0 ? TypedBlock{0, 0, MPI_BYTE} : blocks[number]);
  return ours;
}

bool in_order(const std::vector<std::int32_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

Arguments in_our_order(const Place& place, Arguments arguments) {
  if (!place.given) return arguments;
  if (!in_order(place.send_blocks) || !in_order(place.recv_blocks)) arguments.form = Form::w;  // blocks do not follow each other any more
  if (arguments.collective == Collective::alltoall) arguments.send = reordered(arguments.send, place.send_blocks);
  arguments.recv = reordered(arguments.recv, place.recv_blocks);
  return arguments;
}

int init(tonari_neighborhood near, MPI_Info info, tonari_request* request, const std::function<Arguments(std::size_t, std::size_t)>& read) {
  return guarded([&] {
    if (!near) fail(Errc::argument, "the neighborhood is null");
    const tonari_request made = make_request(near, info, [&] {
      if (!request) fail(Errc::argument, "the place for the new request is null");  // here, where all ranks learn of it
      const Vertex& lists = as_given(near->context->place());
      return in_our_order(near->context->place(), read(lists.targets.size(), lists.sources.size()));
    });
    *request = made;
  });
}

}  // namespace
}  // namespace tonari

using namespace tonari;

extern "C" int tonari_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    tonari_neighborhood near, MPI_Info info, tonari_request* request) {
  return init(near, info, request, [&](std::size_t out, std::size_t in) {
    return Arguments{Collective::alltoall, Form::regular, sendbuf, recvbuf, Side{"send", sendbuf, out}.regular(sendcount, sendtype),
                     Side{"receive", recvbuf, in}.regular(recvcount, recvtype)};
  });
}

extern "C" int tonari_alltoallv_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const MPI_Aint recvdispls[], MPI_Datatype recvtype, tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request) {
  return init(near, info, request, [&](std::size_t out, std::size_t in) {
    return Arguments{Collective::alltoall, Form::v, sendbuf, recvbuf, Side{"send", sendbuf, out}.v(sendcounts, senddispls, sendtype),
                     Side{"receive", recvbuf, in}.v(recvcounts, recvdispls, recvtype)};
  });
}

extern "C" int tonari_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint senddispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                                     const int recvcounts[], const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                     MPI_Info info, tonari_request* request) {
  return init(near, info, request, [&](std::size_t out, std::size_t in) {
    return Arguments{Collective::alltoall, Form::w, sendbuf, recvbuf, Side{"send", sendbuf, out}.w(sendcounts, senddispls, sendtypes),
                     Side{"receive", recvbuf, in}.w(recvcounts, recvdispls, recvtypes)};
  });
}

extern "C" int tonari_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info, tonari_request* request) {
  return init(near, info, request, [&](std::size_t, std::size_t in) {
    return Arguments{Collective::allgather, Form::regular, sendbuf, recvbuf, Side{"send", sendbuf, 1}.regular(sendcount, sendtype),
                     Side{"receive", recvbuf, in}.regular(recvcount, recvtype)};
  });
}

extern "C" int tonari_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], MPI_Datatype recvtype, tonari_neighborhood near, MPI_Info info, tonari_request* request) {
  return init(near, info, request, [&](std::size_t, std::size_t in) {
    return Arguments{Collective::allgather, Form::v, sendbuf, recvbuf, Side{"send", sendbuf, 1}.regular(sendcount, sendtype),
                     Side{"receive", recvbuf, in}.v(recvcounts, recvdispls, recvtype)};
  });
}

extern "C" int tonari_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[], tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request) {
  return init(near, info, request, [&](std::size_t, std::size_t in) {
    return Arguments{Collective::allgather, Form::w, sendbuf, recvbuf, Side{"send", sendbuf, 1}.regular(sendcount, sendtype),
                     Side{"receive", recvbuf, in}.w(recvcounts, recvdispls, recvtypes)};
  });
}
