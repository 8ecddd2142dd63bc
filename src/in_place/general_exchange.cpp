// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/general_exchange.hpp"

#include <algorithm>
#include <utility>

#include "channels/abandon.hpp"
#include "engine/comm/read_topology.hpp"

namespace tonari {
namespace {

// long enough for the bandwidth, short enough that several are on their way
constexpr std::uint64_t largest_piece = 256 * 1024;
constexpr std::uint64_t smallest_chunk = 64;  // below, packing does not pay

Slots slots_of(std::uint64_t count, std::int64_t displacement, std::uint64_t size,
               std::size_t peer) {
  if (displacement < 0)
    fail(Errc::argument, "the displacement of the block for rank ", peer,
         " is negative: ", displacement);
  const char* const what = "the place of a block in bytes";
  const Slot begin = checked_multiply(static_cast<std::uint64_t>(displacement), size, what);
  return {begin, checked_add(begin, checked_multiply(count, size, what), what)};
}

std::uint64_t sum(const std::vector<Slots>& blocks) {
  std::uint64_t all = 0;
  for (const Slots& block : blocks) all += block.size();
  return all;
}

// Half of the memory is for parking, and half for four chunks. Contiguous bytes need no chunks.
std::uint64_t chunk_size(const SlotMemory& slots, const Blocks& blocks, std::uint64_t memory) {
  if (slots.all_contiguous()) return 0;
  const std::uint64_t size =
      std::min({memory / 8, largest_piece, std::max(sum(blocks.send), sum(blocks.recv))});
  return size < smallest_chunk ? 0 : size;
}

Rearrangement::Limits limits(const SlotMemory& slots, std::uint64_t chunk, std::uint64_t memory) {
  return {std::max<std::uint64_t>(memory, 1) - 4 * chunk,
          std::max(chunk, std::min(slots.longest_piece(), largest_piece))};
}

}  // namespace

Blocks GeneralExchange::blocks_of(const GeneralProblem& problem) {
  const std::uint64_t size = problem.element->bytes();
  Blocks blocks;
  for (std::size_t j = 0; j < problem.send_counts.size(); ++j) {
    blocks.send.push_back(slots_of(problem.send_counts[j], problem.send_displs[j], size, j));
    blocks.recv.push_back(slots_of(problem.recv_counts[j], problem.recv_displs[j], size, j));
  }
  return blocks;
}

GeneralExchange::GeneralExchange(std::shared_ptr<const OwnedComm> comm, int first_tag,
                                 const GeneralProblem& problem, std::uint64_t memory,
                                 WaitPolicy wait, std::shared_ptr<const Node> node)
    : PolledExchange(std::move(comm), wait),
      first_tag_(first_tag),
      rank_(rank_in(comm_->get())),
      node_(std::move(node)),
      slots_(problem.base, problem.extent, *problem.element),
      chunk_bytes_(chunk_size(slots_, blocks_of(problem), memory)),
      machine_(rank_, blocks_of(problem), limits(slots_, chunk_bytes_, memory)),
      memory_(machine_.room() + 4 * chunk_bytes_),
      questions_(std::make_unique<std::array<Words, window>>()) {
  slots_.set_room(machine_.room_begin(), memory_.data());
  if (chunk_bytes_ > 0) chunks_ = memory_.data() + machine_.room();
  requests_.fill(MPI_REQUEST_NULL);
  count_books();
  const Blocks blocks = blocks_of(problem);
  for (std::size_t j = 0; j < blocks.send.size(); ++j) {
    if (static_cast<int>(j) == rank_) continue;
    bytes_ += blocks.send[j].size();
    messages_ += !blocks.send[j].empty() + !blocks.recv[j].empty();
    if (!blocks.send[j].empty() || !blocks.recv[j].empty())
      partners_.push_back(static_cast<std::int32_t>(j));
  }
}

GeneralExchange::~GeneralExchange() {
  const auto is_send = [](std::size_t k) { return k < answer || k >= part; };
  if (abandon(requests_, is_send)) leak(std::move(memory_), std::move(questions_));
}

void GeneralExchange::start() {
  parity_ = 1 - parity_;
  messages_ = 0;
  machine_.start();
}

bool GeneralExchange::advance() {
  bool moved = active_ > 0 && complete_some();
  if (answer_some()) moved = true;
  if (ask_some()) moved = true;
  if (moved) count_books();
  return moved;
}

// One thread at a time advances; others only read.
void GeneralExchange::count_books() {
  const std::size_t now = sizeof *this + machine_.bytes() + sizeof *questions_ +
                          partners_.capacity() * sizeof partners_[0] +
                          places_.capacity() * sizeof(Slots) +
                          parks_.capacity() * sizeof(Rearrangement::Park);
  if (now > most_books_) most_books_ = now;
}

bool GeneralExchange::complete_some() {
  int done = 0;
  call_mpi("MPI_Testsome", [&] {
    return MPI_Testsome(all_roles, requests_.data(), &done, completed_.data(), statuses_.data());
  });
  if (done == MPI_UNDEFINED) return false;
  active_ -= done;
  for (int k = 0; k < done; ++k) {
    const int index = completed_[k];
    if (index >= part) {
      Sending& sending = sending_[index - part];
      if (sending.chunk != no_chunk) chunk_used_[sending.chunk] = false;
      machine_.sent(sending.place);
    } else if (index >= answer) {
      part_came(index - answer, statuses_[k]);
    }
  }
  return done > 0;
}

int GeneralExchange::free_index(int role) const {
  for (int k = 0; k < window; ++k)
    if (requests_[role + k] == MPI_REQUEST_NULL && (role == part || asked_[k].number == 0))
      return k;
  return -1;
}

int GeneralExchange::take_chunk(int role) {
  const int first = role == part ? 0 : 2;
  for (int k = first; k < first + 2; ++k)
    if (!std::exchange(chunk_used_[k], true)) return k;
  return no_chunk;
}

// -- the receiver's part

// Takes no more at a time than can be on their way, so that a test is short even if much stays on
// this rank.
bool GeneralExchange::ask_some() {
  bool asked = false;
  for (int k = 0; k < window && ask(); ++k) asked = true;
  return asked;
}

bool GeneralExchange::ask() {
  const int index = free_index(question);
  if (index < 0) return false;
  auto piece = machine_.propose();
  if (!piece) return false;
  int chunk = no_chunk;
  if (piece->from != rank_) {
    const std::uint64_t straight = slots_.contiguous(piece->to);
    if (straight < std::min(piece->to.size(), chunk_bytes_)) {
      chunk = take_chunk(answer);
      if (chunk == no_chunk) return false;
      piece->to.end = piece->to.begin + std::min(piece->to.size(), chunk_bytes_);
    } else {
      piece->to.end = piece->to.begin + straight;
    }
  }
  parks_.clear();
  machine_.claim(*piece, parks_);
  for (const auto& park : parks_) slots_.copy(park.from, park.to);
  if (piece->from == rank_) {
    serve_myself(*piece);
    return true;
  }
  asked_[index] = {*piece, 0, ++asked_in_all_, chunk};
  send_question(index);
  post_receive(piece->from);
  return true;
}

void GeneralExchange::serve_myself(const Rearrangement::Piece& piece) {
  std::vector<Slots> places;
  machine_.take(rank_, piece.offset, piece.to.size(), places);
  Slot to = piece.to.begin;
  for (const Slots& place : places) {
    slots_.copy(place, to);
    to += place.size();
    machine_.sent(place);
  }
  machine_.received(piece);
}

void GeneralExchange::send_question(int index) {
  const Rearrangement::Piece& piece = asked_[index].piece;
  Words& words = (*questions_)[index];
  words = {piece.offset, piece.to.size()};
  check_mpi(MPI_Isend(words.data(), sizeof(Words), MPI_BYTE, piece.from, first_tag_ + 1 + parity_,
                      comm_->get(), &requests_[question + index]),
            "MPI_Isend");
  ++active_;
  ++messages_;
}

// Serves the oldest piece that was asked of this rank.
void GeneralExchange::post_receive(int sender) {
  int oldest = -1;
  for (int k = 0; k < window; ++k) {
    if (asked_[k].number == 0 || asked_[k].piece.from != sender) continue;
    if (oldest < 0 || asked_[k].number < asked_[oldest].number) oldest = k;
  }
  if (oldest < 0 || requests_[answer + oldest] != MPI_REQUEST_NULL) return;
  const Asked& asked = asked_[oldest];
  std::byte* const to = asked.chunk == no_chunk ? slots_.address(asked.piece.to.begin + asked.got)
                                                : chunk(asked.chunk) + asked.got;
  check_mpi(MPI_Irecv(to, static_cast<int>(asked.piece.to.size() - asked.got), MPI_BYTE, sender,
                      first_tag_, comm_->get(), &requests_[answer + oldest]),
            "MPI_Irecv");
  ++active_;
}

void GeneralExchange::part_came(int index, const MPI_Status& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  Asked& asked = asked_[index];
  asked.got += static_cast<std::uint64_t>(bytes);
  if (asked.got == asked.piece.to.size()) {
    if (asked.chunk != no_chunk) {
      slots_.write(chunk(asked.chunk), asked.piece.to);
      chunk_used_[asked.chunk] = false;
    }
    machine_.received(asked.piece);
    asked.number = 0;
  }
  post_receive(asked.piece.from);
}

// -- the sender's part

bool GeneralExchange::answer_some() {
  bool answered = false;
  while ((next_place_ < places_.size() || next_question()) && send_part()) answered = true;
  return answered;
}

// Takes questions only while there is something to send; later ones belong to the next exchange.
bool GeneralExchange::next_question() {
  if (machine_.all_taken()) return false;
  int flag = 0;
  MPI_Status status;
  call_mpi("MPI_Iprobe", [&] {
    return MPI_Iprobe(MPI_ANY_SOURCE, first_tag_ + 1 + parity_, comm_->get(), &flag, &status);
  });
  if (!flag) return false;
  Words words = {};
  answering_ = status.MPI_SOURCE;
  call_mpi("MPI_Recv", [&] {
    return MPI_Recv(words.data(), sizeof(Words), MPI_BYTE, answering_, first_tag_ + 1 + parity_,
                    comm_->get(), MPI_STATUS_IGNORE);
  });
  places_.clear();
  next_place_ = 0;
  machine_.take(answering_, words[0], words[1], places_);
  return true;
}

bool GeneralExchange::send_part() {
  const int index = free_index(part);
  if (index < 0) return false;
  Slots& place = places_[next_place_];
  std::uint64_t bytes = slots_.contiguous(place);
  Sending& sending = sending_[index];
  sending = {};
  const std::byte* from = nullptr;
  if (bytes < std::min(place.size(), chunk_bytes_)) {
    sending.chunk = take_chunk(part);
    if (sending.chunk == no_chunk) return false;
    bytes = std::min(place.size(), chunk_bytes_);
    slots_.read({place.begin, place.begin + bytes}, chunk(sending.chunk));
    from = chunk(sending.chunk);
    machine_.sent({place.begin, place.begin + bytes});
  } else {
    sending.place = {place.begin, place.begin + bytes};
    from = slots_.address(place.begin);
  }
  // The sends are synchronous. Otherwise short parts, which a receiver takes one at a time, would
  // pile up in the MPI's memory.
  check_mpi(MPI_Issend(from, static_cast<int>(bytes), MPI_BYTE, answering_, first_tag_,
                       comm_->get(), &requests_[part + index]),
            "MPI_Issend");
  ++active_;
  ++messages_;
  place.begin += bytes;
  if (place.empty()) ++next_place_;
  return true;
}

// -- reports

// One that has ended asks for nothing more, and who will ask is not known.
void GeneralExchange::check_peers() const {
  for (const std::int32_t rank : partners_) check_alive(node_.get(), rank);
}

void GeneralExchange::awaits(Awaited& awaited) const {
  for (const Asked& asked : asked_)
    if (asked.number != 0)
      awaited.add(Awaited::What::message, node_.get(), asked.piece.from, asked.got,
                  asked.piece.to.size());
  if (machine_.all_taken()) return;
  awaited.note("until others ask for what this rank has for them");
  for (const std::int32_t rank : partners_) awaited.add(Awaited::What::entering, node_.get(), rank);
}

}  // namespace tonari
