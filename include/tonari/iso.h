/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: the interface of Träff, Carpen-Amarie, Hunold and Rougier, "Message-Combining Algorithms
 * for Isomorphic, Sparse Collective Communication" (2016), Listings 1 to 3, over tonari.h. A
 * program written for the paper's library compiles and runs as it stands:
 *
 *     int octant[] = {1,0,0, 0,1,0, 0,0,1, 1,1,0, 1,0,1, 0,1,1, 1,1,1};
 *     Iso_neighborhood_create(cartcomm, 7, octant, &isocomm);
 *     Iso_neighbor_alltoall_init(sendbuf, 8, MPI_DOUBLE, recvbuf, 8, MPI_DOUBLE, isocomm,
 *                                &request);
 *     for (...) Iso_start(&request);
 *     Iso_request_free(&request);
 *     MPI_Comm_free(&isocomm);
 *
 * Types of the parameters are the paper's, hence no const; nothing but receive buffers and output
 * parameters is written. What the parameters mean beyond the notes below, and which calls are
 * collective, is said in tonari.h at the function without "Iso_neighbor".
 *
 * Start. In the listings Iso_start "initiates and completes": when it returns, recvbuf is complete
 * and sendbuf may be changed. Section 7 proposes a start that returns at once and a call Iso_wait.
 * A program that defines ISO_NONBLOCKING before it includes this header gets that: its Iso_start is
 * Iso_istart, and every start has to be completed by Iso_wait or by an Iso_test that sets *flag to
 * 1. In a program that does not, Iso_wait and Iso_test after Iso_start succeed at once. Both kinds
 * of start may meet in one exchange: ranks need not agree.
 *
 * Errors. The functions return MPI_SUCCESS (which is TONARI_SUCCESS) or a TONARI_ERR_ code, with
 * tonari_last_error(). Programs written in MPI's manner do not look at return codes, so an error is
 * first given to an MPI error handler. It is that of cartcomm or isocomm where the function has
 * such a parameter, else (also if it is MPI_COMM_NULL) that of MPI_COMM_WORLD. A program with
 * sessions alone has none of that; there the code comes back. The handler sees an MPI error code of
 * a class of its own, whose MPI_Error_string is the sentence. So under MPI_ERRORS_ARE_FATAL, MPI's
 * default, a wrong call ends the program with the sentence, and under MPI_ERRORS_RETURN the code
 * comes back.
 */
#ifndef TONARI_ISO_H
#define TONARI_ISO_H

#include <tonari/tonari.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tonari request: tonari_request_describe() and tonari_request_get_info() take it. */
typedef tonari_request Iso_request;
#define ISO_REQUEST_NULL TONARI_REQUEST_NULL

/* Listing 1. [collective]
 *  cartcomm  any communicator with a Cartesian topology, periodic or not; not changed.
 *  relative_coordinates
 *            s * d integers, neighbor after neighbor, the same on all ranks (checked).
 *  isocomm   a duplicate of cartcomm, topology included, with the neighborhood attached; owned by
 *            the caller, MPI_Comm_free frees both. Requests made on it stay valid after that.
 * A duplicate of isocomm (MPI_Comm_dup) shares the neighborhood, which goes with the last of them.
 * Communicators made from it otherwise (MPI_Cart_sub, MPI_Comm_split) have none. Communicators that
 * share a neighborhood count as one where tonari.h speaks of one neighborhood: no two init calls on
 * them at a time. */
TONARI_API int Iso_neighborhood_create(MPI_Comm cartcomm, int s, int relative_coordinates[],
                                       MPI_Comm* isocomm);
/* The same with the keys of `info`, as tonari_neighborhood_create_cart() takes them; not in the
 * paper. Requests made on isocomm and its duplicates inherit the values. info may be MPI_INFO_NULL,
 * and may be freed after the call. Errors also: ARGUMENT (unknown key), ALGORITHM, MISMATCH (values
 * differ between ranks). */
TONARI_API int Iso_neighborhood_create_with_info(MPI_Comm cartcomm, int s,
                                                 int relative_coordinates[], MPI_Info info,
                                                 MPI_Comm* isocomm);

/* Listing 2. [collective] Blocks of one size: consecutive in sendbuf and recvbuf, in the order of
 * the neighbors. allgather: sendbuf is one block. */
TONARI_API int Iso_neighbor_alltoall_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                          MPI_Comm isocomm, Iso_request* request);
TONARI_API int Iso_neighbor_allgather_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                           MPI_Comm isocomm, Iso_request* request);

/* Listing 3. [collective] Blocks of different sizes. Displacements of v forms are in extents of the
 * type, of w forms in bytes. The arrays may be changed after the call. */
TONARI_API int Iso_neighbor_alltoallv_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                           MPI_Datatype sendtype, void* recvbuf, int recvcounts[],
                                           MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                           MPI_Comm isocomm, Iso_request* request);
/* The listing calls the last type recvtypes, but it is one type. */
TONARI_API int Iso_neighbor_allgatherv_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, int recvcounts[], MPI_Aint recvdispls[],
                                            MPI_Datatype recvtypes, MPI_Comm isocomm,
                                            Iso_request* request);
TONARI_API int Iso_neighbor_alltoallw_init(void* sendbuf, int sendcounts[], MPI_Aint senddispls[],
                                           MPI_Datatype sendtypes[], void* recvbuf,
                                           int recvcounts[], MPI_Aint recvdispls[],
                                           MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                           Iso_request* request);
TONARI_API int Iso_neighbor_allgatherw_init(void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, int recvcounts[], MPI_Aint recvdispls[],
                                            MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                            Iso_request* request);

/* Section 5: torus-direct, which sends blocks straight along each dimension. The paper measures
 * these variants as Iso_neighbor_alltoall_direct and Iso_neighbor_allgather_direct,
 * and prints no declarations. They are the calls above with torus-direct, whatever the info of
 * Iso_neighborhood_create_with_info names; only the variable TONARI_ALGORITHM comes before both.
 * [collective] */
TONARI_API int Iso_neighbor_alltoall_direct_init(void* sendbuf, int sendcount,
                                                 MPI_Datatype sendtype, void* recvbuf,
                                                 int recvcount, MPI_Datatype recvtype,
                                                 MPI_Comm isocomm, Iso_request* request);
TONARI_API int Iso_neighbor_allgather_direct_init(void* sendbuf, int sendcount,
                                                  MPI_Datatype sendtype, void* recvbuf,
                                                  int recvcount, MPI_Datatype recvtype,
                                                  MPI_Comm isocomm, Iso_request* request);
TONARI_API int Iso_neighbor_alltoallv_direct_init(void* sendbuf, int sendcounts[],
                                                  MPI_Aint senddispls[], MPI_Datatype sendtype,
                                                  void* recvbuf, int recvcounts[],
                                                  MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                                  MPI_Comm isocomm, Iso_request* request);
TONARI_API int Iso_neighbor_allgatherv_direct_init(void* sendbuf, int sendcount,
                                                   MPI_Datatype sendtype, void* recvbuf,
                                                   int recvcounts[], MPI_Aint recvdispls[],
                                                   MPI_Datatype recvtypes, MPI_Comm isocomm,
                                                   Iso_request* request);
TONARI_API int Iso_neighbor_alltoallw_direct_init(void* sendbuf, int sendcounts[],
                                                  MPI_Aint senddispls[], MPI_Datatype sendtypes[],
                                                  void* recvbuf, int recvcounts[],
                                                  MPI_Aint recvdispls[], MPI_Datatype recvtypes[],
                                                  MPI_Comm isocomm, Iso_request* request);
TONARI_API int Iso_neighbor_allgatherw_direct_init(void* sendbuf, int sendcount,
                                                   MPI_Datatype sendtype, void* recvbuf,
                                                   int recvcounts[], MPI_Aint recvdispls[],
                                                   MPI_Datatype recvtypes[], MPI_Comm isocomm,
                                                   Iso_request* request);

/* Listing 2: initiates the exchange and completes it. Errors: ARGUMENT (null), ACTIVE (Iso_istart
 * without completion), MPI. */
TONARI_API int Iso_start(Iso_request* request);
/* Initiates the exchange and returns at once. Same errors. */
TONARI_API int Iso_istart(Iso_request* request);
/* Section 7. Completes what was started. The rules of tonari_wait and tonari_test hold: progress is
 * made in these calls. */
TONARI_API int Iso_wait(Iso_request* request);
TONARI_API int Iso_test(Iso_request* request, int* flag);
/* Sets *request to ISO_REQUEST_NULL. Local. Errors: ACTIVE (wait for it first). */
TONARI_API int Iso_request_free(Iso_request* request);

#ifdef ISO_NONBLOCKING
#define Iso_start Iso_istart
#endif

#ifdef __cplusplus
}
#endif
#endif
