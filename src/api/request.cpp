#include "api/request.hpp"

#include <iomanip>
#include <numeric>

#include "api/settings.hpp"
#include "api/sizes.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "engine/passing.hpp"
#include "engine/selector.hpp"

namespace tonari {
namespace {

std::string block_name(const Placed& block) { return text(block.written ? "receive block " : "send block ", block.block); }

void check_overlaps(const Binding& binding, const Vertex& vertex) {
  std::vector<Placed> placed;
  std::vector<Layout> whole(binding.send.size() + binding.recv.size());
  const auto add = [&](const Block& b, std::size_t i, bool written) {
    if (b.bytes == 0) return;
    Layout& bytes = whole[placed.size()];
    if (!b.layout) bytes.add(0, b.bytes);
    placed.push_back({reinterpret_cast<std::uintptr_t>(b.address), b.layout ? b.layout : &bytes, static_cast<std::uint32_t>(i), written});
  };
  for (std::size_t i = 0; i < binding.send.size(); ++i) add(binding.send[i], i, false);
  for (std::size_t i = 0; i < binding.recv.size(); ++i)
    if (vertex.sources[i] >= 0) add(binding.recv[i], i, true);
  Overlap overlap;
  if (!find_overlap(placed, overlap)) return;
  fail(Errc::buffers, "on rank ", vertex.rank, " ", block_name(placed[overlap.first]), " and ", block_name(placed[overlap.second]),
       " overlap; a receive block must share no byte with another block");
}

// Addresses, not buffers: a null buffer with absolute displacements is MPI_BOTTOM.
void check_addresses(const std::vector<Block>& blocks, const char* name) {
  constexpr std::uintptr_t first_page = 4096;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& b = blocks[i];
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(b.address) + (b.layout ? b.layout->span().first : 0);
    if (b.bytes > 0 && first < first_page) fail(Errc::argument, name, " block ", i, " has ", b.bytes, " bytes, but the ", name, " buffer is null");
  }
}

struct Prepared {
  Arguments arguments;
  Binding binding;
  Settings settings;
};

// Everything that this rank can check by itself, then one agreement with the others.
Problem agree_on_problem(Context& context, MPI_Info info, const std::function<Arguments()>& read, Prepared& mine) {
  SizePrint print{0, false};
  const std::optional<Error> error = caught([&] {
    mine.settings = read_settings(info, context.settings());
    mine.arguments = read();
    mine.binding = bind(mine.arguments);
    check_addresses(mine.binding.send, "send");
    check_addresses(mine.binding.recv, "receive");
    check_overlaps(mine.binding, context.vertex());
    print = size_print(context.place(), mine.arguments.collective, mine.binding);
  });
  const bool spread = !mine.binding.layouts.empty();
  const std::uint64_t words[] = {static_cast<std::uint64_t>(mine.arguments.collective), mine.settings.fingerprint(), print.hash, spread,
                                 static_cast<std::uint64_t>(mine.arguments.form)};
  const std::vector<bool> same = agree(context.comm(), error, words);
  if (!same[0]) fail(Errc::mismatch, "some ranks call an all-to-all where others call an allgather");
  if (!same[1]) fail(Errc::mismatch, "ranks gave different info keys or environment variables (TONARI_...); they must be the same on all ranks");
  if (!same[4]) mine.arguments.form = Form::w;  // it can express the others: MPI's own collective must be the same one on all ranks
  Problem problem{context.repertoire(), context.place().fingerprint, context.place().neighbors, mine.arguments.collective, {}, same[3] && !spread};
  problem.sizes.bytes = agree_on_sizes(context, problem.collective, mine.binding, same[2] && print.ends_match);
  mine.binding.uniform = problem.sizes.bytes;
  return problem;
}

// The same on all ranks, also where block sizes differ.
void set_average(Context& context, Problem& problem, const Binding& binding) {
  std::vector<Bytes> bytes = problem.sizes.bytes;
  if (bytes.empty())
    for (const Block& b : binding.send) bytes.push_back(b.bytes);
  problem.sizes.average = bytes.empty() ? 0 : std::accumulate(bytes.begin(), bytes.end(), 0.0) / static_cast<double>(bytes.size());
  if (problem.sizes.bytes.empty()) check_mpi(MPI_Allreduce(MPI_IN_PLACE, &problem.sizes.average, 1, MPI_DOUBLE, MPI_MAX, context.comm()), "MPI_Allreduce");
}

void describe(tonari_request_s& request, const Choice& choice, const Problem& problem) {
  request.algorithm = choice.candidate.algorithm();
  request.variant = choice.candidate.variant();
  request.channel = choice.candidate.channel.name();
  request.channel_detail = choice.candidate.channel.detail();
  request.reason = choice.reason;
  request.predicted = choice.candidate.predicted;
  request.measured = choice.measured;
  request.rounds = static_cast<int>(choice.candidate.scheme ? choice.candidate.scheme->rounds() : problem.neighbors);
  request.description =
      text(name(problem.collective), " with ", problem.neighbors, " neighbors, ", std::setprecision(6), problem.sizes.average, " bytes per block",
           problem.sizes.bytes.empty() ? " (sizes differ between ranks)" : "", "\n", "chosen: ", choice.candidate.label(), " (", choice.reason, ")\n", "sends: ",
           request.exchange->messages(), " messages, ", request.exchange->bytes(), " bytes; holds ", request.exchange->scratch_bytes(), " bytes\n", choice.details);
}

}  // namespace

tonari_request make_request(tonari_neighborhood near, MPI_Info info, const std::function<Arguments()>& read) {
  const double start = MPI_Wtime();
  Context& context = *near->context;
  Prepared mine;
  Problem problem = agree_on_problem(context, info, read, mine);
  set_average(context, problem, mine.binding);
  Choice choice = choose(context, problem, mine.settings, mine.arguments, mine.binding);
  std::vector<Candidate> chosen{choice.candidate};
  learn_passing(context, chosen, problem, mine.settings, mine.binding);
  choice.candidate = chosen.front();
  auto request = std::make_unique<tonari_request_s>();
  request->context = near->context;
  const std::size_t tags = choice.candidate.scheme ? choice.candidate.scheme->tags() : 0;
  if (!choice.candidate.scheme) context.graph();
  context.reserve_tags(tags);
  together(context.comm(), [&] {
    request->exchange = build(context, choice.candidate, mine.settings, mine.arguments, mine.binding, context.first_tag());
    describe(*request, choice, problem);
  });
  context.take_tags(tags);
  request->init = MPI_Wtime() - start;
  return request.release();
}

}  // namespace tonari
