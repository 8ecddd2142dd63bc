#include "grid/halo_exchange.hpp"

#include "channels/mpi_error.hpp"
#include "channels/mpi_usable.hpp"

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

MappedExchange::MappedExchange(GhostMaps& maps, int copy, std::shared_ptr<Exchange> messages,
                               std::shared_ptr<const OwnedComm> comm, WaitPolicy wait)
    : PolledExchange(std::move(comm), wait, std::move(messages)), maps_(maps), copy_(copy) {}

void MappedExchange::start() {
  finished_ = false;
  maps_.publish(copy_);
  inner().start();
  messages_done_ = inner().test();
}

// Messages first: what they bring must be there, and what they take away must have left, before
// anybody goes on.
bool MappedExchange::advance() {
  messages_done_ = messages_done_ || inner().test();
  if (!messages_done_ || !maps_.complete(copy_)) return false;
  maps_.finish(copy_);
  return finished_ = true;
}

void MappedExchange::give_up() {
  maps_.give_up();
  inner().give_up();
}

}  // namespace tonari
