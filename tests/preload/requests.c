/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges that begin and end, non-blocking and persistent ones, completed in all ways that MPI
 * has. They proceed while ranks wait for something else. */
#include "unmodified.h"

#include <stdlib.h>

enum { WAYS = 9, OTHERS = 2, ALL = FORMS + OTHERS };

/* Completes requests in one of the ways that MPI has, persistent or not. */
static void complete(MPI_Request* r, int way) {
  int done = 0, index = 0, many = 0, indices[ALL];
  MPI_Status status[ALL];
  switch (way) {
    case 0:
      for (int k = 0; k < ALL; ++k) require(MPI_Wait(&r[k], &status[k]), "MPI_Wait");
      break;
    case 1:
      require(MPI_Waitall(ALL, r, status), "MPI_Waitall");
      break;
    case 2:
      while (index != MPI_UNDEFINED) require(MPI_Waitany(ALL, r, &index, status), "MPI_Waitany");
      break;
    case 3:
      while (many != MPI_UNDEFINED)
        require(MPI_Waitsome(ALL, r, &many, indices, status), "MPI_Waitsome");
      break;
    case 4:
      for (int k = ALL - 1; k >= 0; --k)
        for (done = 0; !done;) require(MPI_Test(&r[k], &done, status), "MPI_Test");
      break;
    case 5:
      while (!done) require(MPI_Testall(ALL, r, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      break;
    case 6:
      while (!done || index != MPI_UNDEFINED)
        require(MPI_Testany(ALL, r, &index, &done, status), "MPI_Testany");
      break;
    case 7:
      while (many != MPI_UNDEFINED)
        require(MPI_Testsome(ALL, r, &many, indices, status), "MPI_Testsome");
      break;
    default:
      for (int k = 0; k < ALL; ++k) {
        for (done = 0; !done;)
          require(MPI_Request_get_status(r[k], &done, status), "MPI_Request_get_status");
        require(MPI_Wait(&r[k], MPI_STATUS_IGNORE), "MPI_Wait");
      }
  }
}

/* All forms at once, among messages of MPI's own, in one array. */
static void in_flight(const edges* e, MPI_Comm comm, int round, int way) {
  static flight flights[FORMS];
  MPI_Request r[ALL];
  const long out = payload(e->rank, 0, 0, round);
  long in = UNTOUCHED;
  MPI_Irecv(&in, 1, MPI_LONG, e->rank, 5, comm, &r[0]);
  for (form how = 0; how < FORMS; ++how) begin(e, how, &flights[how], comm, round, &r[how + 1]);
  MPI_Isend(&out, 1, MPI_LONG, e->rank, 5, comm, &r[ALL - 1]);
  complete(r, way);
  for (form how = 0; how < FORMS; ++how) finish(e, how, &flights[how], round);
  if (in != out) fail(e, "a message", 0, 0, in, out);
}

void begun_on(const edges* e, MPI_Comm comm) {
  for (int round = 0; round < 2 * WAYS; ++round) {
    in_flight(e, comm, round, round % WAYS);
    if (round % 4 == 1) deliver(e, round % FORMS, comm, round);
  }
}

/* ---- persistent exchanges ---- */

/* All forms again and again, started together or one by one, among persistent messages. */
void persistent_on(const edges* e, MPI_Comm comm) {
  if (!has_persistent()) return all_forms(e, comm, 1);
  static flight flights[FORMS];
  MPI_Request r[ALL];
  long out = 0, in = 0;
  MPI_Recv_init(&in, 1, MPI_LONG, e->rank, 5, comm, &r[0]);
  for (form how = 0; how < FORMS; ++how) make(e, how, &flights[how], comm, &r[how + 1]);
  MPI_Send_init(&out, 1, MPI_LONG, e->rank, 5, comm, &r[ALL - 1]);
  for (int round = 0; round < 5 * WAYS; ++round) {
    for (form how = 0; how < FORMS; ++how) fill(e, how, &flights[how], round);
    in = UNTOUCHED, out = round;
    if (round % 2)
      for (int k = 0; k < ALL; ++k) require(MPI_Start(&r[k]), "MPI_Start");
    else
      require(MPI_Startall(ALL, r), "MPI_Startall");
    if (round % 7 == 3) deliver(e, round % FORMS, comm, round);
    complete(r, round % WAYS);
    for (form how = 0; how < FORMS; ++how) check(e, how, &flights[how], round);
    if (in != out) fail(e, "a message", 0, 0, in, out);
  }
  /* Open MPI 4.1 needs the types as long as the requests. */
  for (int k = 0; k < ALL; ++k) {
    require(MPI_Request_free(&r[k]), "MPI_Request_free");
    if (r[k] != MPI_REQUEST_NULL) require(MPI_ERR_REQUEST, "a request that was freed");
  }
  for (form how = 0; how < FORMS; ++how) MPI_Type_free(&flights[how].holes);
}

/* ---- progress ---- */

/* The first rank begins an exchange, and then waits for a message that the next one sends before it
 * begins its own. */
static void begin_before_others(void) {
  enum { LONG = 1 << 20 };
  edges e = {0};
  int ranks;
  MPI_Comm comm = line(&e, 0);
  MPI_Comm_size(comm, &ranks);
  char* message = calloc(LONG, 1);
  static flight at_hand;
  MPI_Request request;
  if (e.rank == 1) MPI_Send(message, LONG, MPI_CHAR, 0, 9, comm);
  begin(&e, ALLTOALL, &at_hand, comm, 3, &request);
  if (e.rank == 0 && ranks > 1) MPI_Recv(message, LONG, MPI_CHAR, 1, 9, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  finish(&e, ALLTOALL, &at_hand, 3);
  free(message);
  MPI_Comm_free(&comm);
}

/* The first rank waits for a message that the next one sends only after its own exchange. */
static void others_proceed(int elements) {
  edges e = {0};
  int ranks;
  MPI_Comm comm = line(&e, 1);
  MPI_Comm_size(comm, &ranks);
  long *out = malloc(2 * sizeof(long) * elements), *in = malloc(2 * sizeof(long) * elements),
       token = 1;
  for (int k = 0; k < 2 * elements; ++k)
    out[k] = payload(e.rank, k / elements, k % elements % 60, 1);
  MPI_Request request;
  for (int round = 0; round < 5; ++round) {
    WIDTH(MPI_Ineighbor_alltoall)(out, elements, MPI_LONG, in, elements, MPI_LONG, comm, &request);
    if (e.rank == 0 && ranks > 1) MPI_Recv(&token, 1, MPI_LONG, 1, 9, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (e.rank == 1) MPI_Send(&token, 1, MPI_LONG, 0, 9, comm);
    for (int j = 0; j < 2 && ranks > 2; ++j)
      for (int k = 0; k < elements; ++k) {
        const long should = payload(e.source[j], e.block[j], k % 60, 1);
        if (in[j * elements + k] != should)
          fail(&e, "a long block", j, k, in[j * elements + k], should);
      }
  }
  free(out), free(in);
  MPI_Comm_free(&comm);
}

void progress(void) {
  begin_before_others();
  for (int elements = 16; elements <= 1 << 18; elements *= 4) others_proceed(elements);
}
