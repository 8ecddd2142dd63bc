// SPDX-License-Identifier: BSD-3-Clause
// The blocking neighborhood collectives: each goes through tonari or to the MPI.
#include "preload/blocking_call.hpp"
#include "preload/operations.hpp"

using namespace tonari::preload;

TONARI_IN_FRONT_OF(Neighbor_alltoall, neighbor_alltoall, const void* sendbuf, int sendcount,
                   Handle sendtype, void* recvbuf, int recvcount, Handle recvtype, Handle comm)
int neighbor_alltoall(const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf,
                      int recvcount, Handle recvtype,
                      Handle comm) TONARI_BLOCKING(Neighbor_alltoall, neighbor_alltoall, Alltoall,
                                                   sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype)

    TONARI_IN_FRONT_OF(Neighbor_alltoallv, neighbor_alltoallv, const void* sendbuf,
                       const int sendcounts[], const int sdispls[], Handle sendtype, void* recvbuf,
                       const int recvcounts[], const int rdispls[], Handle recvtype,
                       Handle comm) int neighbor_alltoallv(const void* sendbuf,
                                                           const int sendcounts[],
                                                           const int sdispls[], Handle sendtype,
                                                           void* recvbuf, const int recvcounts[],
                                                           const int rdispls[], Handle recvtype,
                                                           Handle comm)
        TONARI_BLOCKING(Neighbor_alltoallv, neighbor_alltoallv, Alltoallv, sendbuf, sendcounts,
                        sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)

            TONARI_IN_FRONT_OF(
                Neighbor_alltoallw, neighbor_alltoallw, const void* sendbuf, const int sendcounts[],
                const MPI_Aint sdispls[], const void* sendtypes, void* recvbuf,
                const int recvcounts[], const MPI_Aint rdispls[], const void* recvtypes,
                Handle comm) int neighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                                    const MPI_Aint sdispls[], const void* sendtypes,
                                                    void* recvbuf, const int recvcounts[],
                                                    const MPI_Aint rdispls[], const void* recvtypes,
                                                    Handle comm)
                TONARI_BLOCKING(Neighbor_alltoallw, neighbor_alltoallw, Alltoallw, sendbuf,
                                sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                recvtypes)

                    TONARI_IN_FRONT_OF(
                        Neighbor_allgather, neighbor_allgather, const void* sendbuf, int sendcount,
                        Handle sendtype, void* recvbuf, int recvcount, Handle recvtype,
                        Handle comm) int neighbor_allgather(const void* sendbuf, int sendcount,
                                                            Handle sendtype, void* recvbuf,
                                                            int recvcount, Handle recvtype,
                                                            Handle comm)
                        TONARI_BLOCKING(Neighbor_allgather, neighbor_allgather, Allgather, sendbuf,
                                        sendcount, sendtype, recvbuf, recvcount, recvtype)

                            TONARI_IN_FRONT_OF(
                                Neighbor_allgatherv, neighbor_allgatherv, const void* sendbuf,
                                int sendcount, Handle sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], Handle recvtype,
                                Handle comm) int neighbor_allgatherv(const void* sendbuf,
                                                                     int sendcount, Handle sendtype,
                                                                     void* recvbuf,
                                                                     const int recvcounts[],
                                                                     const int displs[],
                                                                     Handle recvtype, Handle comm)
                                TONARI_BLOCKING(Neighbor_allgatherv, neighbor_allgatherv,
                                                Allgatherv, sendbuf, sendcount, sendtype, recvbuf,
                                                recvcounts, displs, recvtype)
