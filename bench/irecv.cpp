// The comparator every MPI programmer writes first: one message per block, blocks to the rank
// itself too.
#include "candidate.hpp"

namespace bench {

namespace {

class Irecv : public Candidate {
 public:
  explicit Irecv(const Workload& work)
      : w_(work), requests_(work.place.sources.size() + work.place.targets.size()) {}
  void run() override {
    for (int j = 0; j < in(); ++j)
      MPI_Irecv(recv(j), r_.counts[j], r_.types[j], w_.place.sources[j], w_.place.origins[j],
                w_.place.cart, &requests_[j]);
    for (int i = 0; i < out(); ++i)
      MPI_Isend(send(i), s_.counts[at(i)], s_.types[at(i)], w_.place.targets[i], i, w_.place.cart,
                &requests_[in() + i]);
    MPI_Waitall(in() + out(), requests_.data(), MPI_STATUSES_IGNORE);
  }

 protected:
  int in() const { return static_cast<int>(w_.place.sources.size()); }
  int out() const { return static_cast<int>(w_.place.targets.size()); }
  int at(int i) const { return s_.counts.size() == 1 ? 0 : i; }  // allgather has one block to send
  void* recv(int i) const { return static_cast<char*>(w_.recv()) + r_.offsets[i]; }
  const void* send(int i) const { return static_cast<const char*>(w_.send()) + s_.offsets[at(i)]; }

  const Workload& w_;
  const Arguments& s_ = w_.send_arguments();
  const Arguments& r_ = w_.recv_arguments();
  std::vector<MPI_Request> requests_;
};

class IrecvPersistent : public Irecv {
 public:
  explicit IrecvPersistent(const Workload& work) : Irecv(work) {
    for (int j = 0; j < in(); ++j)
      MPI_Recv_init(recv(j), r_.counts[j], r_.types[j], w_.place.sources[j], w_.place.origins[j],
                    w_.place.cart, &requests_[j]);
    for (int i = 0; i < out(); ++i)
      MPI_Send_init(send(i), s_.counts[at(i)], s_.types[at(i)], w_.place.targets[i], i,
                    w_.place.cart, &requests_[in() + i]);
  }
  ~IrecvPersistent() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  void run() override {
    // Open MPI takes no empty list
    if (!requests_.empty()) MPI_Startall(in() + out(), requests_.data());
    MPI_Waitall(in() + out(), requests_.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace

bool is_irecv(const std::string& name) { return name == "irecv" || name == "irecv-persistent"; }

std::unique_ptr<Candidate> make_irecv(const std::string& name, const Workload& work) {
  if (name == "irecv") return std::make_unique<Irecv>(work);
  return std::make_unique<IrecvPersistent>(work);
}

}  // namespace bench
