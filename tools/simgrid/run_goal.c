// SPDX-License-Identifier: BSD-3-Clause
// Runs a schedule in GOAL by MPI_Isend, MPI_Irecv and MPI_Waitany, and prints the microseconds
// until the last rank is done:
//
//   run_goal FILE [messages-first]
//
// tools/compare_simgrid.py builds it for SimGrid's SMPI. There all ranks live in one process and
// run by turns, so the programs of all ranks are read once. Under any other MPI each process reads
// them.
//
// A rank does what is ready in the order in which it became ready, and then waits for a message.
// With messages-first it looks for messages before each step, but for those ready at the start.
// A send lets the steps behind it go on at once, as an eager message does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum act { SEND, RECV, CALC, ACTS };  // the order in which they begin if ready at one time

struct step {
  enum act act;
  long size;  // bytes, or nanoseconds
  int peer, tag;
  int waits;  // for so many steps
};
struct edge {
  int earlier, later;
};
struct program {
  struct step *steps;
  struct edge *edges;
  int count, edge_count;
};
static struct program *programs;
static int ranks;

static void die(const char *what, const char *about) {
  fprintf(stderr, "run_goal: %s %s\n", what, about);
  exit(1);
}

static void *grown(void *memory, int count, size_t each) {
  if (count & (count - 1)) return memory;  // there is room up to the next power of two
  memory = realloc(memory, (count ? 2 * (size_t)count : 1) * each);
  if (!memory) die("no memory", "");
  return memory;
}

static void read_line(struct program *p, const char *line) {
  struct step step = {CALC, 0, 0, 0, 0};
  struct edge edge;
  int label;
  if (sscanf(line, "l%d requires l%d", &edge.later, &edge.earlier) == 2) {
    p->edges = grown(p->edges, p->edge_count, sizeof edge);
    p->edges[p->edge_count++] = edge;
    ++p->steps[edge.later].waits;
    return;
  }
  if (sscanf(line, "l%d: send %ldb to %d tag %d", &label, &step.size, &step.peer, &step.tag) == 4)
    step.act = SEND;
  else if (sscanf(line, "l%d: recv %ldb from %d tag %d", &label, &step.size, &step.peer,
                  &step.tag) == 4)
    step.act = RECV;
  else if (sscanf(line, "l%d: calc %ld", &label, &step.size) != 2)
    die("cannot read", line);
  p->steps = grown(p->steps, p->count, sizeof step);
  p->steps[p->count++] = step;
}

// Programs as tonari writes them: a step or a dependency in each line, labels l0, l1, ...
static void read_programs(const char *path) {
  FILE *file = fopen(path, "r");
  char line[200];
  int rank = 0;
  if (!file) die("cannot open", path);
  if (!fgets(line, sizeof line, file) || sscanf(line, "num_ranks %d", &ranks) != 1)
    die("no number of ranks in", path);
  programs = calloc((size_t)ranks, sizeof *programs);
  if (!programs) die("no memory", "");
  while (fgets(line, sizeof line, file))
    if (line[0] == 'l')
      read_line(&programs[rank], line);
    else if (sscanf(line, "rank %d", &rank) == 1 && (rank < 0 || rank >= ranks))
      die("no such rank:", line);
  fclose(file);
}

struct run {
  const struct program *program;
  int *waits, *ready, begun, readied;  // ready: steps in the order in which they became ready
  int *first;                          // of the edges that begin at each step; sorted holds them
  int *sorted;
  MPI_Request *requests;
  int *step_of;  // each request's
  int open;
  char *out, *in;
};

static void *made(size_t count, size_t each) {
  void *memory = calloc(count + 1, each);
  if (!memory) die("no memory", "");
  return memory;
}

static void sort_edges(struct run *r) {
  const struct program *p = r->program;
  r->first = made((size_t)p->count + 1, sizeof(int));
  r->sorted = made((size_t)p->edge_count, sizeof(int));
  for (int e = 0; e < p->edge_count; ++e) ++r->first[p->edges[e].earlier + 1];
  for (int k = 0; k < p->count; ++k) r->first[k + 1] += r->first[k];
  int *place = made((size_t)p->count, sizeof(int));
  for (int e = 0; e < p->edge_count; ++e) {
    const int earlier = p->edges[e].earlier;
    r->sorted[r->first[earlier] + place[earlier]++] = p->edges[e].later;
  }
  free(place);
}

static struct run begin_run(const struct program *p) {
  struct run r = {.program = p};
  size_t most = 0, all = 0;
  r.waits = made((size_t)p->count, sizeof(int));
  r.ready = made((size_t)p->count, sizeof(int));
  r.requests = made((size_t)p->count, sizeof(MPI_Request));
  r.step_of = made((size_t)p->count, sizeof(int));
  sort_edges(&r);
  for (int k = 0; k < p->count; ++k) {
    const struct step *step = &p->steps[k];
    r.waits[k] = step->waits;
    if (step->act == SEND && (size_t)step->size > most) most = (size_t)step->size;
    if (step->act == RECV) all += (size_t)step->size;
  }
  for (int act = 0; act < ACTS; ++act)
    for (int k = 0; k < p->count; ++k)
      if (r.waits[k] == 0 && (int)p->steps[k].act == act) r.ready[r.readied++] = k;
  r.out = made(most, 1);
  r.in = made(all, 1);
  return r;
}

static void completed(struct run *r, int k) {
  for (int e = r->first[k]; e < r->first[k + 1]; ++e) --r->waits[r->sorted[e]];
  for (int act = 0; act < ACTS; ++act)
    for (int e = r->first[k]; e < r->first[k + 1]; ++e) {
      const int later = r->sorted[e];
      if (r->waits[later] == 0 && (int)r->program->steps[later].act == act)
        r->ready[r->readied++] = later;
    }
}

// Receives are posted when they are ready, also before sends that were ready earlier.
static void post(struct run *r, int k, char *where) {
  const struct step *step = &r->program->steps[k];
  MPI_Irecv(where, (int)step->size, MPI_BYTE, step->peer, step->tag, MPI_COMM_WORLD,
            &r->requests[r->open]);
  r->step_of[r->open++] = k;
}

static void begin(struct run *r, int k, MPI_Request *sends, int *sent) {
  const struct step *step = &r->program->steps[k];
  if (step->act == CALC && step->size > 0) {
    const struct timespec length = {step->size / 1000000000, step->size % 1000000000};
    nanosleep(&length, NULL);
  }
  if (step->act == SEND)
    MPI_Isend(r->out, (int)step->size, MPI_BYTE, step->peer, step->tag, MPI_COMM_WORLD,
              &sends[(*sent)++]);
  completed(r, k);
}

// Takes a message: waits for one, or only looks whether one is there. False: there was none.
static int take(struct run *r, int waits) {
  int which = 0, there = 1;
  if (waits)
    MPI_Waitany(r->open, r->requests, &which, MPI_STATUS_IGNORE);
  else
    MPI_Testany(r->open, r->requests, &which, &there, MPI_STATUS_IGNORE);
  if (!there) return 0;
  const int k = r->step_of[which];
  r->requests[which] = r->requests[--r->open];
  r->step_of[which] = r->step_of[r->open];
  completed(r, k);
  return 1;
}

static double run(struct run *r, int messages_first) {
  const int at_start = r->readied;
  MPI_Request *sends = made((size_t)r->program->count, sizeof(MPI_Request));
  int sent = 0;
  char *where = r->in;
  int posted = 0;
  const double start = MPI_Wtime();
  for (;;) {
    for (; posted < r->readied; ++posted) {
      const struct step *step = &r->program->steps[r->ready[posted]];
      if (step->act != RECV) continue;
      post(r, r->ready[posted], where);
      where += step->size;
    }
    const int looks = messages_first && r->open > 0 && r->begun >= at_start;
    if (r->begun < r->readied && looks && take(r, 0)) continue;
    if (r->begun < r->readied) {
      const int k = r->ready[r->begun++];
      if (r->program->steps[k].act != RECV) begin(r, k, sends, &sent);
      continue;
    }
    if (r->open == 0) break;
    take(r, 1);
  }
  const double took = MPI_Wtime() - start;
  MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
  free(sends);
  return took;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int messages_first = argc == 3 && strcmp(argv[2], "messages-first") == 0;
  if (argc != 2 + messages_first) die("give", "one file, and perhaps messages-first");
  if (!programs) read_programs(argv[1]);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != ranks) die("start as many ranks as the file has:", argv[1]);
  struct run r = begin_run(&programs[rank]);
#ifndef SMPI_H  // whose ranks begin at one simulated time
  MPI_Barrier(MPI_COMM_WORLD);
#endif
  double took = run(&r, messages_first), longest = 0;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f\n", longest * 1e6);
  MPI_Finalize();
  return 0;
}
