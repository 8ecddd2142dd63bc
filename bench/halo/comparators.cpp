// SPDX-License-Identifier: BSD-3-Clause
// What programs do on arrays without a library: one message per neighbor, also where the neighbor
// is the rank itself, by MPI_Irecv and MPI_Isend.
#include <array>
#include <optional>

#include "halo/exchange.hpp"
#include "plain_messages.hpp"

namespace bench::halo {

namespace {

constexpr int all = 26;

class OnArray : public Exchange {
 public:
  explicit OnArray(const Field& field) : field_(field) {}
  bool verify(int generation) override { return verify_field(*this, field_, generation); }

 protected:
  const std::vector<Neighbor>& neighbors() const { return field_.torus().neighbors(); }
  MPI_Comm comm() const { return field_.torus().comm(); }
  const Field& field_;
};

// Nested loops into one buffer per neighbor and out of it.
class Pack : public OnArray {
 public:
  explicit Pack(const Field& field) : OnArray(field) {
    for (int i = 0; i < all; ++i) {
      const std::size_t cells =
          static_cast<std::size_t>(cells_in(field.cube().surface(neighbors()[i])));
      out_[i].resize(cells), in_[i].resize(cells);
    }
  }

  void run() override {
    const double start = now();
    for (int i = 0; i < all; ++i)
      MPI_Irecv(in_[i].data(), static_cast<int>(in_[i].size()), MPI_DOUBLE, neighbors()[i].rank,
                opposite(i), comm(), &requests_[i]);
    const double received = now();
    for (int i = 0; i < all; ++i) gather(field_.cube().surface(neighbors()[i]), out_[i].data());
    const double packed = now();
    for (int i = 0; i < all; ++i)
      MPI_Isend(out_[i].data(), static_cast<int>(out_[i].size()), MPI_DOUBLE, neighbors()[i].rank,
                i, comm(), &requests_[all + i]);
    const double sent = now();
    MPI_Waitall(2 * all, requests_.data(), MPI_STATUSES_IGNORE);
    const double arrived = now();
    for (int i = 0; i < all; ++i) scatter(field_.cube().ghosts(neighbors()[i]), in_[i].data());
    phases_ = {packed - received + now() - arrived, received - start + sent - packed,
               arrived - sent};
  }
  std::string description() const override {
    return "plain loops into buffers, MPI_Irecv and MPI_Isend, plain loops out of buffers; to "
           "itself by MPI, too";
  }

 private:
  // f(the first cell, how many) of all rows.
  template <class F>
  void over_rows(const tonari_box& box, const F& f) const {
    for (long long z = box.first[0]; z < box.end[0]; ++z)
      for (long long y = box.first[1]; y < box.end[1]; ++y)
        f(&field_.at(0, z, y, box.first[2]), box.end[2] - box.first[2]);
  }
  void gather(const tonari_box& box, double* to) const {
    over_rows(box, [&](const double* from, long long width) {
      for (long long x = 0; x < width; ++x) *to++ = from[x];
    });
  }
  void scatter(const tonari_box& box, const double* from) const {
    over_rows(box, [&](double* to, long long width) {
      for (long long x = 0; x < width; ++x) to[x] = *from++;
    });
  }

  std::array<MPI_Request, 2 * all> requests_{};
  std::array<std::vector<double>, all> out_, in_;
};

// MPI packs: subarray types on the array itself.
class Datatypes : public OnArray {
 public:
  explicit Datatypes(const Field& field) : OnArray(field) {
    std::vector<PlainMessage> in, out;
    for (int i = 0; i < all; ++i) {
      const Neighbor& each = neighbors()[i];
      types_[i] = type_of(field.cube().ghosts(each));
      types_[all + i] = type_of(field.cube().surface(each));
      in.push_back({field.base(0), 1, types_[i], each.rank, opposite(i)});
      out.push_back({field.base(0), 1, types_[all + i], each.rank, i});
    }
    messages_.emplace(comm(), in, out, false);
  }
  ~Datatypes() override {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }

  void run() override {
    const double start = now();
    messages_->start();
    const double sent = now();
    messages_->wait();
    phases_ = {0, sent - start, now() - sent};
  }
  std::string description() const override {
    return "MPI_Type_create_subarray, MPI_Irecv and MPI_Isend; to itself by MPI, too";
  }

 private:
  MPI_Datatype type_of(const tonari_box& box) const {
    const int ghost = static_cast<int>(field_.cube().ghost),
              extent = static_cast<int>(field_.cube().size) + 2 * ghost;
    std::array<int, 3> whole, some, first;
    for (std::size_t k = 0; k < 3; ++k) {
      whole[k] = extent;
      some[k] = static_cast<int>(box.end[k] - box.first[k]);
      first[k] = static_cast<int>(box.first[k]) + ghost;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(3, whole.data(), some.data(), first.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
    return type;
  }

  std::array<MPI_Datatype, 2 * all> types_{};
  std::optional<PlainMessages> messages_;
};

}  // namespace

std::unique_ptr<Exchange> make_pack(const Field& field) { return std::make_unique<Pack>(field); }
std::unique_ptr<Exchange> make_datatypes(const Field& field) {
  return std::make_unique<Datatypes>(field);
}

}  // namespace bench::halo
