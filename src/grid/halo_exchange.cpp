#include "grid/halo_exchange.hpp"

#include "channels/mpi_error.hpp"
#include "channels/mpi_usable.hpp"
#include "engine/agree.hpp"

namespace tonari {

HaloExchange::HaloExchange(HaloProgram program, std::shared_ptr<const OwnedComm> comm,
                           int first_tag)
    : program_(std::move(program)), comm_(std::move(comm)) {
  step_ = program_.steps.size();
  // then nothing fails that would leave some behind
  for (const HaloStep& step : program_.steps)
    requests_.emplace_back(step.transfers.size(), MPI_REQUEST_NULL);
  for (std::size_t s = 0; s < requests_.size(); ++s)
    for (std::size_t k = 0; k < requests_[s].size(); ++k) {
      const Transfer& t = program_.steps[s].transfers[k];
      MPI_Request& request = requests_[s][k];
      if (t.send)
        check_mpi(MPI_Send_init(t.buffer, t.count, t.type, t.peer, first_tag + t.tag, comm_->get(),
                                &request),
                  "MPI_Send_init");
      else
        check_mpi(MPI_Recv_init(t.buffer, t.count, t.type, t.peer, first_tag + t.tag, comm_->get(),
                                &request),
                  "MPI_Recv_init");
    }
}

HaloExchange::~HaloExchange() {
  // it failed: messages that are still on their way must find the memory that they were promised
  if (step_ < program_.steps.size()) {
    (void)new HaloProgram(std::move(program_));
    return;
  }
  if (!mpi_usable()) return;
  for (std::vector<MPI_Request>& step : requests_)
    for (MPI_Request& request : step) MPI_Request_free(&request);
}

void HaloExchange::start() {
  step_ = 0;
  if (step_ < program_.steps.size()) begin_step();
}

void HaloExchange::begin_step() {
  const HaloStep& step = program_.steps[step_];
  run_moves(step.pack);
  std::vector<MPI_Request>& requests = requests_[step_];
  if (!requests.empty())
    check_mpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
  run_moves(step.local);
}

void HaloExchange::end_step() {
  run_moves(program_.steps[step_].unpack);
  if (++step_ < program_.steps.size()) begin_step();
}

bool HaloExchange::test() {
  while (step_ < program_.steps.size()) {
    int done = 0;
    std::vector<MPI_Request>& requests = requests_[step_];
    check_mpi(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    if (!done) return false;
    end_step();
  }
  return true;
}

void HaloExchange::wait() {
  while (step_ < program_.steps.size()) {
    std::vector<MPI_Request>& requests = requests_[step_];
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    end_step();
  }
}

MappedExchange::MappedExchange(GhostMaps& maps, int copy, std::unique_ptr<HaloExchange> rest,
                               WaitPolicy wait)
    : maps_(maps), copy_(copy), rest_(std::move(rest)), policy_(wait) {}

void MappedExchange::start() {
  idle_tests_.reset();
  maps_.publish(copy_);
  rest_->start();
  rest_done_ = rest_->test();
}

// Messages first: what they bring must be there, and what they take away must have left, before
// anybody goes on.
bool MappedExchange::look() {
  rest_done_ = rest_done_ || rest_->test();
  if (!rest_done_ || !maps_.complete(copy_)) return false;
  maps_.finish(copy_);
  return true;
}

bool MappedExchange::test() {
  if (look()) return true;
  after_idle_look(idle_tests_.idle(policy_));
  return false;
}

void MappedExchange::wait() {
  Wait waiting(policy_);
  while (!look()) after_idle_look(waiting.idle());
}

void MappedExchange::after_idle_look(Wait::Then then) {
  // others may need this rank's MPI to come to where they publish
  if (then == Wait::Then::progress) {
    int flag = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, rest_->comm(), &flag, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }
  if (then != Wait::Then::check) return;
  const std::optional<Error> error = caught([&] { maps_.check_peers(); });
  if (error && !look()) throw *error;  // who ended may have published right before
}

}  // namespace tonari
