// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/agree_on_call.hpp"

#include <array>

#include "mpi/mpi_error.hpp"
#include "request/buffer.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

using Votes = decltype(SwapCalls::kept)::Votes;

std::shared_ptr<SharedComm> shared_for(MPI_Comm comm) {
  int between = 0;
  check_mpi(MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter");
  if (between)
    fail(Errc::argument,
         "`comm` is an intercommunicator; in-place exchanges need an intracommunicator, "
         "such as MPI_Intercomm_merge makes");
  return SharedComm::of(comm);
}

// Whether this rank has kept an exchange for the call: then settings are those of the call, and
// `buffer` is that of the exchange.
Votes find_kept(const InPlaceCall& call, AgreedInPlace& agreed, const void*& buffer) {
  FamilyObjects& families = agreed.context->shared().families();
  agreed.calls = families.find<SwapCalls>();
  if (!agreed.calls) agreed.calls = &families.add(std::make_unique<SwapCalls>());
  return agreed.calls->kept.votes(
      [&](const SwapCall& known, const std::shared_ptr<Prepared>& made) {
        if (made.use_count() > 1 || made->running() || made->broken() || !known.same(call.blocks))
          return false;
        const bool as_known = known.no_keys && call.info == MPI_INFO_NULL;
        agreed.settings = as_known ? known.settings : read_in_place(call);
        buffer = known.buffer;
        return agreed.settings == known.settings;
      });
}

void read(const InPlaceCall& call, Use use, AgreedInPlace& agreed) {
  agreed.settings = read_in_place(call);
  if (call.general)
    agreed.general = read_general(call, *agreed.context);
  else
    agreed.symmetric = read_symmetric(call, use, *agreed.context);
}

}  // namespace

bool SwapCall::same(const BufferArguments& given) const {
  const bool lies = given.buffer == buffer || (given.buffer && buffer);
  return lies && given.buffer != MPI_IN_PLACE && !on_gpu(given.buffer) && known.same(given);
}

AgreedInPlace agree_on_in_place(const InPlaceCall& call, Use use, Output output) {
  AgreedInPlace agreed;
  const std::shared_ptr<SharedComm> shared = shared_for(call.comm);
  Votes votes{};
  const void* buffer = nullptr;  // of the kept exchange
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    agreed.context = context_on(shared);
    if (use == Use::one_shot && !call.general) votes = find_kept(call, agreed, buffer);
    if (!votes[0]) read(call, use, agreed);
  });
  const std::array things{Alike{call.general,
                                "some ranks call a symmetric in-place exchange where others call "
                                "the general one"},
                          Alike{fingerprint(agreed.settings), other_settings}};
  const Compared compared =
      agree_on_arguments(shared->comm(), call.info, wrong, with_votes(things, votes));
  if (agreed.calls) agreed.kept = agreed.calls->kept.take(compared);
  if (agreed.kept)
    agreed.kept->rebind(
        std::array{std::ptrdiff_t{0}, distance(buffer, call.blocks.buffer), std::ptrdiff_t{0}});
  return agreed;
}

}  // namespace tonari
