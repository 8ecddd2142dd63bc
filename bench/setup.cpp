// SPDX-License-Identifier: BSD-3-Clause
// Set-up times (Träff 2016, Table 2): MPI's graph constructors beside tonari's neighborhood and
// requests.
#include <functional>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "candidate.hpp"
#include "collect.hpp"
#include "runs.hpp"
#include "tonari_requests.hpp"

namespace bench {
using tonari::Errc;

namespace {

// What the first starts of a request lose: it may still be choosing.
struct Loss {
  double lost = 0, exchange = 0;  // seconds: beyond what later ones take, and one of those
};

Loss loss_of(tonari_request request, MPI_Comm comm) {
  constexpr int starts = 100;  // of either kind; online tuning takes at most 98
  std::vector<double> seconds;
  for (int k = 0; k < 2 * starts; ++k) {
    const double begin = now();
    tonari_start(request), tonari_wait(request);
    seconds.push_back(now() - begin);
  }
  const auto later = seconds.begin() + starts;
  const double exchange = spread({later, seconds.end()}).median;
  return {most(std::accumulate(seconds.begin(), later, -starts * exchange), comm),
          most(exchange, comm)};
}

struct Object {
  std::string function;
  std::string algorithm;  // "" for what is not a request
  std::string tune;
  std::function<void()> prepare;  // not timed
  std::function<void()> make;
  std::function<void()> free;
  int most;                              // repetitions; measuring inits are slow on purpose
  std::function<Loss()> loss = nullptr;  // what the first exchanges lose; not timed
};

std::vector<Object> graphs(const Place& place, MPI_Comm& graph) {
  const std::vector<int> sources = existing(place.sources), targets = existing(place.targets);
  const auto free = [&graph] { MPI_Comm_free(&graph); };
  const auto adjacent = [&graph, sources, targets] { graph = distributed_graph(sources, targets); };
  const auto general = [&place, &graph, targets] {
    const int degree = static_cast<int>(targets.size());
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &place.rank, &degree, targets.data(), MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &graph);
  };
  return {{"MPI_Dist_graph_create_adjacent", "", "", [] {}, adjacent, free, 1 << 30},
          {"MPI_Dist_graph_create", "", "", [] {}, general, free, 1 << 30}};
}

// Offsets stay packed until somebody asks for what they lead to, as every exchange does.
Object unpacked(tonari_neighborhood& near, const Place& place) {
  return {"tonari_neighborhood_create_cart and tonari_neighborhood_ranks",
          "",
          "",
          [] {},
          [&near, &place, targets = place.targets, sources = place.sources]() mutable {
            near = make_neighborhood(place);
            tonari_neighborhood_ranks(near, targets.data(), sources.data());
          },
          [&near] { tonari_neighborhood_free(&near); },
          1 << 30};
}

// The first exchange on a new communicator with MPI's own collective, and on a new neighborhood.
struct FirstCalls {
  const Place& place;
  const Workload& work;
  tonari_neighborhood& near;
  MPI_Comm graph = distributed_graph(existing(place.sources), existing(place.targets));
  MPI_Comm copy = MPI_COMM_NULL;
  std::unique_ptr<Candidate> call;

  FirstCalls(const Place& of, const Workload& with, tonari_neighborhood& by)
      : place(of), work(with), near(by) {}
  ~FirstCalls() { MPI_Comm_free(&graph); }
  FirstCalls(const FirstCalls&) = delete;
  FirstCalls& operator=(const FirstCalls&) = delete;

  std::vector<Object> objects() {
    const std::string operation = name(work.operation);
    return {{"MPI_Comm_dup and MPI_Neighbor_" + operation, "", "first call", [] {},
             [this] {
               MPI_Comm_dup(graph, &copy);
               make_native("native", work, copy)->run();
             },
             [this] { MPI_Comm_free(&copy); }, 1 << 30},
            {"tonari_" + operation, "", "first call",
             [this] {
               near = make_neighborhood(place);
               call = make_tonari("one-shot", work, near, "auto");
             },
             [this] { call->run(); },
             [this] {
               call.reset();
               tonari_neighborhood_free(&near);
             },
             1 << 30}};
  }
};

// Each request is the first one of a neighborhood of its own: nothing that an earlier init left
// there helps.
struct Inits {
  const Place& place;
  const Workload& work;
  tonari_neighborhood& near;
  tonari_request& request;

  Object operator()(const std::string& algorithm, const std::string& tune, const char* label,
                    int most) const {
    return {"tonari_" + name(work.operation) + "_init",
            algorithm,
            label,
            [&place = place, &near = near] { near = make_neighborhood(place); },
            [&work = work, &near = near, &request = request, algorithm, tune] {
              request = make_request(work, near,
                                     {{"tonari_algorithm", algorithm}, {"tonari_tune", tune}});
            },
            [&near = near, &request = request] {
              tonari_request_free(&request);
              tonari_neighborhood_free(&near);
            },
            most,
            [&place = place, &request = request] { return loss_of(request, place.cart); }};
  }
};

std::vector<Object> inits(const Inits& init) {
  std::vector<Object> objects;
  for (const char* algorithm :
       {"linear", "torus", "torus-direct", "additive-basis", "joint-basis", "native", "irecv"})
    objects.push_back(init(algorithm, "model", "model", 1 << 30));
  objects.push_back(init("auto", "off", "off", 1 << 30));
  objects.push_back(init("auto", "model", "model", 1 << 30));
  objects.push_back(init("auto", "online", "online", 1 << 30));
  objects.push_back(init("auto", "measure", "measure", 3));
  // after measure: the answer is remembered
  objects.push_back(init("auto", "auto", "wisdom", 1 << 30));
  return objects;
}

struct Repeated {
  std::vector<double> seconds, lost, lost_exchanges;
};

// The first one is warm-up: it also opens files and connections.
Repeated repeat(const Object& object, const Options& options, MPI_Comm comm) {
  Repeated all;
  std::vector<double>& seconds = all.seconds;
  const double start = now();
  int more = 1;
  while (more) {
    object.prepare();
    MPI_Barrier(comm);
    double mine = now();
    object.make();
    mine = now() - mine;
    seconds.push_back(most(mine, comm));
    if (object.loss && object.algorithm == "auto") {
      const Loss loss = object.loss();
      all.lost.push_back(loss.lost);
      all.lost_exchanges.push_back(loss.lost / loss.exchange);
    }
    object.free();
    const int done = static_cast<int>(seconds.size()) - 1;
    more = done < std::min(options.rounds, object.most) &&
           (done < 1 || now() - start < options.max_time);
    MPI_Bcast(&more, 1, MPI_INT, 0, comm);
  }
  for (std::vector<double>* values : {&all.seconds, &all.lost, &all.lost_exchanges})
    if (!values->empty()) values->erase(values->begin());
  return all;
}

Row row_for(const Object& object, const Repeated& all, const Place& place, const Options& options,
            std::size_t bytes) {
  Row row = row_of(place, options, bytes);
  row.text("function", object.function)
      .text("algorithm", object.algorithm)
      .text("tune", object.tune);
  row.quartiles(spread(all.seconds)).whole("rounds", static_cast<long long>(all.seconds.size()));
  if (all.lost.empty()) return std::move(row.null("lost_us").null("lost_exchanges"));
  return std::move(row.number("lost_us", 1e6 * spread(all.lost).median)
                       .number("lost_exchanges", spread(all.lost_exchanges).median));
}

}  // namespace

Outcome time_setup(const Place& place, const Options& options) {
  Outcome outcome;
  const std::size_t bytes = static_cast<std::size_t>(options.bytes.front());
  const Workload work(place, options, bytes);
  MPI_Comm graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request = TONARI_REQUEST_NULL;

  std::vector<Object> objects = graphs(place, graph);
  objects.push_back({place.graph.empty() ? "tonari_neighborhood_create_cart"
                                         : "tonari_neighborhood_create_adjacent",
                     "", "", [] {}, [&] { near = make_neighborhood(place); },
                     [&] { tonari_neighborhood_free(&near); }, 1 << 30});
  if (place.graph.empty()) objects.push_back(unpacked(near, place));
  FirstCalls first(place, work, near);
  for (Object& object : first.objects()) objects.push_back(std::move(object));
  for (Object& object : inits({place, work, near, request})) objects.push_back(std::move(object));
  for (const Object& object : objects) {
    try {
      outcome.rows.push_back(
          row_for(object, repeat(object, options, place.cart), place, options, bytes));
    } catch (const tonari::Error& error) {
      if (error.code() != Errc::algorithm) throw;
      tonari_neighborhood_free(&near);  // the algorithm does not apply to this neighborhood
    }
  }
  return outcome;
}

}  // namespace bench
