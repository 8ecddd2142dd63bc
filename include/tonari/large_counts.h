/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: all exchanges once more, with counts of type MPI_Count. Part of tonari.h, which includes
 * it.
 *
 *     MPI_Count counts[] = {3000000000, 0};  // elements: more than an int can say
 *     MPI_Aint displs[] = {0, 3000000000};
 *     tonari_alltoallv_c(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, near);
 *
 * As in MPI 4, a function whose name ends in _c is the one without, but its counts are MPI_Count.
 * Displacements are MPI_Aint in both. All else is as tonari.h says, and nothing is slower.
 * Ranks may mix both kinds in one exchange. The functions without _c move blocks of more than
 * 2 GiB, too: 2^30 doubles are 8 GiB.
 *
 * No MPI has to know large counts for this. Where its calls count in int, messages are cut into
 * parts, or described by datatypes (docs/adr/0034-large-counts.md).
 *
 * Errors: OVERFLOW for 2^62 bytes or more in a block, and for blocks beyond all addresses. The
 * sentence has the numbers.
 */
#ifndef TONARI_LARGE_COUNTS_H
#define TONARI_LARGE_COUNTS_H

#include <tonari/tonari.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Persistent operations: see tonari_alltoall_init. [collective] */
TONARI_API int tonari_alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                      MPI_Datatype recvtype, tonari_neighborhood near,
                                      MPI_Info info, tonari_request* request);
TONARI_API int tonari_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                       const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                       void* recvbuf, const MPI_Count recvcounts[],
                                       const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                       tonari_neighborhood near, MPI_Info info,
                                       tonari_request* request);
TONARI_API int tonari_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                       const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const MPI_Count recvcounts[],
                                       const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                       tonari_neighborhood near, MPI_Info info,
                                       tonari_request* request);
TONARI_API int tonari_allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                       MPI_Datatype recvtype, tonari_neighborhood near,
                                       MPI_Info info, tonari_request* request);
TONARI_API int tonari_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                        MPI_Datatype recvtype, tonari_neighborhood near,
                                        MPI_Info info, tonari_request* request);
TONARI_API int tonari_allgatherw_init_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                        const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                        MPI_Info info, tonari_request* request);

/* ---- One-shot operations: see tonari_alltoall. [collective] */
TONARI_API int tonari_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 tonari_neighborhood near);
TONARI_API int tonari_ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint recvdispls[],
                                  MPI_Datatype recvtype, tonari_neighborhood near);
TONARI_API int tonari_ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                   tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                  void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                  tonari_neighborhood near);
TONARI_API int tonari_ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                   tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  tonari_neighborhood near);
TONARI_API int tonari_iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                   tonari_neighborhood near);
TONARI_API int tonari_iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                    tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_allgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                   tonari_neighborhood near);
TONARI_API int tonari_iallgatherw_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                    tonari_neighborhood near, tonari_request* request);

/* ---- In place: see tonari_alltoall_inplace_init. [collective over comm] */
TONARI_API int tonari_alltoall_inplace_init_c(void* buf, MPI_Count count, MPI_Datatype type,
                                              MPI_Comm comm, MPI_Info info,
                                              tonari_request* request);
TONARI_API int tonari_alltoallv_inplace_init_c(void* buf, const MPI_Count counts[],
                                               const MPI_Aint displs[], MPI_Datatype type,
                                               MPI_Comm comm, MPI_Info info,
                                               tonari_request* request);
TONARI_API int tonari_alltoallw_inplace_init_c(void* buf, const MPI_Count counts[],
                                               const MPI_Aint displs[], const MPI_Datatype types[],
                                               MPI_Comm comm, MPI_Info info,
                                               tonari_request* request);
TONARI_API int tonari_alltoallv_inplace_general_init_c(void* buf, const MPI_Count sendcounts[],
                                                       const MPI_Aint senddispls[],
                                                       const MPI_Count recvcounts[],
                                                       const MPI_Aint recvdispls[],
                                                       MPI_Datatype type, MPI_Comm comm,
                                                       MPI_Info info, tonari_request* request);
TONARI_API int tonari_ialltoall_inplace_c(void* buf, MPI_Count count, MPI_Datatype type,
                                          MPI_Comm comm, MPI_Info info, tonari_request* request);
TONARI_API int tonari_ialltoallv_inplace_c(void* buf, const MPI_Count counts[],
                                           const MPI_Aint displs[], MPI_Datatype type,
                                           MPI_Comm comm, MPI_Info info, tonari_request* request);
TONARI_API int tonari_ialltoallw_inplace_c(void* buf, const MPI_Count counts[],
                                           const MPI_Aint displs[], const MPI_Datatype types[],
                                           MPI_Comm comm, MPI_Info info, tonari_request* request);
TONARI_API int tonari_ialltoallv_inplace_general_c(void* buf, const MPI_Count sendcounts[],
                                                   const MPI_Aint senddispls[],
                                                   const MPI_Count recvcounts[],
                                                   const MPI_Aint recvdispls[], MPI_Datatype type,
                                                   MPI_Comm comm, MPI_Info info,
                                                   tonari_request* request);
TONARI_API int tonari_alltoall_inplace_c(void* buf, MPI_Count count, MPI_Datatype type,
                                         MPI_Comm comm, MPI_Info info);
TONARI_API int tonari_alltoallv_inplace_c(void* buf, const MPI_Count counts[],
                                          const MPI_Aint displs[], MPI_Datatype type, MPI_Comm comm,
                                          MPI_Info info);
TONARI_API int tonari_alltoallw_inplace_c(void* buf, const MPI_Count counts[],
                                          const MPI_Aint displs[], const MPI_Datatype types[],
                                          MPI_Comm comm, MPI_Info info);
TONARI_API int tonari_alltoallv_inplace_general_c(void* buf, const MPI_Count sendcounts[],
                                                  const MPI_Aint senddispls[],
                                                  const MPI_Count recvcounts[],
                                                  const MPI_Aint recvdispls[], MPI_Datatype type,
                                                  MPI_Comm comm, MPI_Info info);

#ifdef __cplusplus
}
#endif
#endif
