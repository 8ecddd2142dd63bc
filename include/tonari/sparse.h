/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: sparse exchanges with unknown receivers. The C interface; include <tonari/sparse.hpp>
 * from C++.
 *
 *     // I know which ranks I send to; none of them expects it
 *     tonari_messages got;
 *     tonari_sparse_alltoallv(sends, destinations, counts, NULL, MPI_DOUBLE, values, comm,
 *                             MPI_INFO_NULL, &got);
 *     for (int k = 0; k < got->count; ++k)
 *       use(got->sources[k], (const double*)got->data + got->displs[k], got->counts[k]);
 *     tonari_messages_free(&got);
 *
 * This is the dynamic sparse data exchange of Hoefler, Siebert and Lumsdaine 2010 ("Scalable
 * Communication Protocols for Dynamic Sparse Data Exchange"). Where the same ranks talk to each
 * other again, make a neighborhood once (tonari_neighborhood_create_from_destinations), and
 * requests on it.
 *
 * Conventions are those of tonari.h.
 */
#ifndef TONARI_SPARSE_H
#define TONARI_SPARSE_H

#include <tonari/tonari.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What came, owned by the library until it is freed. All of it may be read only, and not copied:
 * later versions add members at the end. */
typedef const struct tonari_messages_s {
  int count;               /* messages */
  const int* sources;      /* of each its sender, ascending */
  const MPI_Count* counts; /* of each its elements: what its sender gave as its count */
  const MPI_Aint* displs;  /* of each its first element in data, in elements */
  /* All messages, one after the other without gaps: those of a lower rank first, those of one rank
   * in the order in which it lists them. An element has the bytes of one element of `type`, in the
   * order of its type map (MPI 4.1, section 5.1), and nothing in between: of a column of a matrix
   * only the column arrives. Aligned as by malloc. NULL if there is nothing. */
  const void* data;
  MPI_Count total;       /* elements of all messages */
  const char* algorithm; /* that carried them, as in tonari_algorithm */
}* tonari_messages;
#define TONARI_MESSAGES_NULL TONARI_NULL_HANDLE(tonari_messages)

/* [collective over comm] Sends any number of messages to any ranks, and returns those that were
 * sent to this rank.
 *  sends, destinations
 *           this rank's messages: message i goes to destinations[i]. A rank may be listed several
 *           times, and this rank itself, too. Each message arrives as one, also if it is empty.
 *           MPI_PROC_NULL: it is not sent.
 *  sendcounts
 *           elements of each message, not negative.
 *  senddispls
 *           where each message begins, in elements (extents) from sendbuf; NULL: one message right
 *           behind the other. Messages may overlap.
 *  type     any type; an element must have equally many bytes on all ranks (checked), also on those
 *           that send nothing. So a rank may send columns where others send rows.
 *  sendbuf  read during the call only. May be NULL if nothing is sent from it.
 *  comm     any intracommunicator; duplicated when the first object on it is made. The first
 *           sparse exchange on it connects up to 16 ranks, with up to 4.2 MiB of memory per rank.
 *  info     MPI_INFO_NULL, or tonari_algorithm (TONARI_SPARSE_ALGORITHM), the same on all ranks
 *           (checked):
 *             auto         (default) what the LogGP model predicts to be the fastest for so many
 *                          ranks and for the messages of the last call on this communicator
 *             pairwise     each rank tells each other one all that is short: on a node it writes it
 *                          once, in memory that the others read. For up to 16 ranks. So few ranks
 *                          also begin all others with it.
 *             nbx          synchronous messages, then an agreement (NBX of Hoefler 2010). Its
 *                          time grows with the messages, and with the logarithm of the ranks.
 *             personalized a reduction tells each rank how many messages to expect, while they are
 *                          on their way (PCX of Hoefler 2010). It has one word per rank.
 *             store-and-forward/N
 *                          hop by hop on a virtual mesh of ranks of N dimensions (1 to log2 of the
 *                          ranks), at most the sum of (extent - 1) messages per rank. It is for
 *                          very many short messages: each travels up to N times.
 *  messages owned by the caller, who frees it with tonari_messages_free. The library keeps up to
 *           8 MiB of what was freed last for the next call.
 * Sizes are bounded by memory only; long messages go in parts. Of one that has more than 16 KiB the
 * data are received where they stay, without a copy.
 * While it waits, exchanges in flight are driven.
 * Errors: ARGUMENT (the sentence names the rank, the argument and the message), ALGORITHM,
 * TOPOLOGY (an intercommunicator), MISMATCH, OVERFLOW, MEMORY (also where what arrives does not
 * fit into a rank's memory), MPI. */
TONARI_API int tonari_sparse_alltoallv(int sends, const int destinations[],
                                       const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                       MPI_Datatype type, const void* sendbuf, MPI_Comm comm,
                                       MPI_Info info, tonari_messages* messages);

/* [collective over comm] The same, without waiting: *messages is null until the request is complete
 * (tonari_wait, or a tonari_test that says so), and then what came.
 *  sendbuf  must not change until then; the lists and `type` may go at once.
 *  messages must stay where it is until then.
 *  request  for tonari_wait, tonari_test and tonari_request_free; it cannot be started again.
 * Any number may be in flight on a communicator. They are carried out in the order of their calls,
 * also if they are completed in another one, and tonari_sparse_alltoallv waits for those before it.
 * They proceed while this rank is in calls of the library.
 * The first call on a communicator duplicates it once more, for what these exchanges agree on: it
 * waits for the other ranks. store-and-forward is not offered (ALGORITHM).
 * Errors as above, at completion, on all ranks; what is NULL on one rank it hears at once. */
TONARI_API int tonari_sparse_ialltoallv(int sends, const int destinations[],
                                        const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                        MPI_Datatype type, const void* sendbuf, MPI_Comm comm,
                                        MPI_Info info, tonari_messages* messages,
                                        tonari_request* request);

/* Local. Sets *messages to null; null is fine. */
TONARI_API int tonari_messages_free(tonari_messages* messages);

#ifdef __cplusplus
}
#endif
#endif
