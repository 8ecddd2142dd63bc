#include "vector/request.hpp"

#include <array>
#include <limits>

#include "api/request.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "channels/mpi_error.hpp"
#include "channels/owned_type.hpp"
#include "engine/agree.hpp"
#include "vector/read_values.hpp"

namespace tonari {
namespace {

const char* name(Direction direction) {
  return direction == Direction::forward ? "forward" : "reverse";
}

// The program's keys for the exchanges of the steps, but for those that would leave values
// elsewhere than where they are looked for.
class StepInfo {
 public:
  explicit StepInfo(MPI_Info info) {
    if (info == MPI_INFO_NULL) return;
    check_mpi(MPI_Info_dup(info, &info_), "MPI_Info_dup");
    char value[8];
    int found = 0;
    check_mpi(MPI_Info_get(info_, "tonari_recv_view", sizeof value - 1, value, &found),
              "MPI_Info_get");
    if (found) check_mpi(MPI_Info_delete(info_, "tonari_recv_view"), "MPI_Info_delete");
  }
  ~StepInfo() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  StepInfo(const StepInfo&) = delete;
  StepInfo& operator=(const StepInfo&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// One side of a step: messages at absolute addresses.
struct StepSide {
  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  std::vector<OwnedType> made;

  StepSide(const VectorExchange& exchange, const std::vector<VectorPart>& parts) {
    for (const VectorPart& part : parts)
      add(exchange.rows(part), exchange.shape().vectors, part.peer);
  }
  void add(const VectorExchange::Rows& rows, int vectors, std::int32_t peer) {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    const std::size_t all = rows.row_bytes * static_cast<std::size_t>(vectors);
    if (all > most)
      fail(Errc::overflow, "the values for rank ", peer, " have ", all,
           " bytes, but a message takes at most ", most,
           "; exchange fewer vectors or components at once");
    places.push_back(reinterpret_cast<MPI_Aint>(rows.base));
    if (vectors == 1 || rows.stride == rows.row_bytes) {
      counts.push_back(static_cast<int>(all)), types.push_back(MPI_BYTE);
      return;
    }
    OwnedType& type = made.emplace_back();
    check_mpi(MPI_Type_create_hvector(vectors, static_cast<int>(rows.row_bytes),
                                      static_cast<MPI_Aint>(rows.stride), MPI_BYTE, type.place()),
              "MPI_Type_create_hvector");
    counts.push_back(1), types.push_back(type.get());
  }
  Given given() const { return w_form(MPI_BOTTOM, counts.data(), places.data(), types.data()); }
};

void describe(const SharedVector& vector, Direction direction, const VectorExchange& exchange,
              Prepared& prepared) {
  const bool one = exchange.steps().size() == 1;
  std::string hops;
  for (const auto& step : exchange.steps()) {
    hops +=
        text(one ? "" : text("hop ", &step - exchange.steps().data() + 1, ": "), step->description);
    prepared.predicted += step->predicted, prepared.measured += step->measured,
        prepared.rounds += step->rounds;
    if (!one) prepared.variant += (prepared.variant.empty() ? "" : ", ") + step->algorithm;
  }
  prepared.algorithm = vector.route();
  if (one) {
    const Prepared& step = *exchange.steps()[0];
    prepared.algorithm = step.algorithm, prepared.variant = step.variant;
  }
  prepared.channel = exchange.steps().empty() ? "" : exchange.steps()[0]->channel;
  prepared.channel_detail = exchange.steps().empty() ? "" : exchange.steps()[0]->channel_detail;
  prepared.reason = exchange.steps().empty() ? "fixed rule" : exchange.steps()[0]->reason;
  const ValueShape& shape = exchange.shape();
  prepared.description =
      text(name(direction), " exchange of a vector, route ", vector.route(), ", ", shape.vectors,
           shape.vectors == 1 ? " vector" : " vectors", " of ", shape.width, " bytes per index\n",
           "sends: ", exchange.messages(), " messages, ", exchange.bytes(), " bytes; holds ",
           exchange.scratch_bytes(), " bytes\n", hops);
}

// Collective.
std::shared_ptr<Prepared> build(SharedVector& vector, Direction direction,
                                const VectorValues& values, MPI_Info info, Use use) {
  std::shared_ptr<Prepared> prepared;
  together(vector.context().comm(), [&] {
    prepared = std::make_shared<Prepared>();
    prepared->context = vector.shared_context();
    prepared->spare = std::make_unique<tonari_request_s>();
    auto exchange =
        std::make_unique<VectorExchange>(vector.program(direction, use == Use::persistent),
                                         values.shape, values.buffers, values.reduction.combine);
    const StepInfo step_info(info);
    const std::vector<VectorStep>& steps = exchange->program().steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const StepSide send(*exchange, steps[s].send), receive(*exchange, steps[s].receive);
      const tonari_neighborhood near = vector.near(direction, s);
      exchange->add_step(prepare(near, Call{Collective::alltoall, send.given(), receive.given()},
                                 use, step_info.get(), true));
    }
    describe(vector, direction, *exchange, *prepared);
    prepared->exchange = std::move(exchange);
  });
  return prepared;
}

// Collective: what the program brings, if it is right and the same everywhere. Returns a number for
// that.
std::uint64_t agree_on_values(const SharedVector& vector, const VectorCall& call, MPI_Info info,
                              bool has_place, VectorValues& values) {
  std::uint64_t settings = 0;
  const std::optional<Error> error = caught([&] {
    if (!has_place) fail(Errc::argument, "the place for the new request is null");
    values = read_values(vector.pattern(), call);
    settings = read_settings(info, {}).fingerprint();
  });
  const auto direction = static_cast<std::uint64_t>(call.direction),
             operation = static_cast<std::uint64_t>(values.reduction.number);
  const auto width = static_cast<std::uint64_t>(values.shape.width),
             vectors = static_cast<std::uint64_t>(values.shape.vectors);
  const std::vector<bool> same =
      agree(vector.context().comm(), error,
            std::array<Ballot, 5>{direction, width, vectors, operation, settings});
  if (!same[0])
    fail(Errc::mismatch, "some ranks call a forward exchange where others call a reverse one");
  if (!same[1])
    fail(Errc::mismatch,
         "ranks gave types or components of different sizes; the values of an index must have the "
         "same number of bytes on all ranks");
  if (!same[2])
    fail(Errc::mismatch,
         "ranks gave different numbers of vectors; it must be the same number on all ranks");
  if (!same[3])
    fail(Errc::mismatch,
         "ranks gave different operations or types of numbers; they must be the same on all ranks");
  if (!same[4]) fail_on_different_settings(vector.context().comm(), info);
  return Hash().word(direction).word(width).word(vectors).word(operation).word(settings).value();
}

}  // namespace

std::shared_ptr<Prepared> prepare_vector(SharedVector& vector, const VectorCall& call,
                                         MPI_Info info, bool has_place) {
  const double start = MPI_Wtime();
  VectorValues values;
  agree_on_values(vector, call, info, has_place, values);
  const std::shared_ptr<Prepared> prepared =
      build(vector, call.direction, values, info, Use::persistent);
  prepared->init = MPI_Wtime() - start;
  return prepared;
}

void run_vector(SharedVector& vector, const VectorCall& call) {
  VectorValues values;
  const std::uint64_t number = agree_on_values(vector, call, MPI_INFO_NULL, true, values);
  std::shared_ptr<Prepared> prepared = vector.known(number);
  if (!prepared)
    vector.keep(number, prepared = build(vector, call.direction, values, MPI_INFO_NULL, Use::once));
  static_cast<VectorExchange&>(*prepared->exchange).use(values.buffers);
  prepared->start();
  prepared->wait();
}

}  // namespace tonari
