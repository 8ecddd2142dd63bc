// SPDX-License-Identifier: BSD-3-Clause
#include "channels/streams/streams.hpp"

#include <algorithm>
#include <utility>

#include "channels/abandon.hpp"
#include "channels/control_messages.hpp"
#include "channels/streams/ring_stream.hpp"
#include "memory/left_word.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {
namespace {

// Of memory that a rank receives in, all its rings together, and of one frame.
constexpr std::size_t most_memory = std::size_t{4} << 20;
constexpr std::size_t largest_frame = std::size_t{64} << 10, smallest_frame = std::size_t{2} << 10;

// The room of a receive that is always posted, by how many of them there are.
std::size_t room_for(std::size_t peers) {
  return std::clamp(most_memory / std::max<std::size_t>(peers, 1), eager_part, largest_frame);
}

// The segment begins with a word that tells others that its rank has left. Then come the board, and
// the rings.
constexpr std::size_t board_at = MessageRing::alignment;

std::size_t frame_for(std::size_t rings) {
  const std::size_t each = most_memory / MessageRing::frames / std::max<std::size_t>(rings, 1);
  return std::clamp(each, smallest_frame, largest_frame) - sizeof(MessageRing::Mark);
}

std::uint64_t& left_word(const Segment& segment) {
  return *reinterpret_cast<std::uint64_t*>(segment.data());
}

// Where a sender finds its ring.
struct RingName {
  SegmentName segment;
  std::uint64_t at = 0, payload = 0;
};

// Whether all ranks have come so far with the memory that they need; anything else is an error.
bool all_have_memory(const ConnectGroup& group, const std::optional<Error>& mine) {
  try {
    group.agree(mine);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    return false;
  }
}

}  // namespace

Streams::Streams(const ConnectGroup& group, std::vector<NeighborEdges> neighbors,
                 const std::shared_ptr<const OwnedComm>& comm, int first_tag,
                 std::size_t board_bytes)
    : node_(group.node),
      comm_(comm),
      rank_(group.rank),
      peers_(std::make_unique<StreamPeer[]>(neighbors.size())),
      count_(neighbors.size()),
      theirs_(neighbors.size()) {
  for (std::size_t k = 0; k < count_; ++k) {
    StreamPeer& peer = peers_[k];
    peer.edges = std::move(neighbors[k]);
    peer.index = node_->index(peer.edges.rank);
    peer.sent_numbers.resize(peer.edges.sent.size());
    peer.edges.received_numbers.push_back(static_cast<std::uint32_t>(room_for(count_)));
    peer.sent_numbers.push_back(eager_part);
  }
  // The names of blocks, for sentences that are the same at both ends, and the room of a receive.
  ControlMessages numbers(group.comm, segment_names);
  for (std::size_t k = 0; k < count_; ++k) {
    StreamPeer& peer = peers_[k];
    if (!peer.edges.sent.empty()) numbers.recv(std::span(peer.sent_numbers), peer.edges.rank);
    if (!peer.edges.received.empty())
      numbers.send(std::span(peer.edges.received_numbers), peer.edges.rank);
  }
  std::vector<std::size_t> rooms;
  rooms.reserve(count_);  // now: a rank that fails between two agreements would be misunderstood
  numbers.exchange([&] { group.agree(std::nullopt); });
  for (std::size_t k = 0; k < count_; ++k) {
    rooms.push_back(peers_[k].sent_numbers.back());
    peers_[k].sent_numbers.pop_back(), peers_[k].edges.received_numbers.pop_back();
  }
  if (!share(group, board_bytes))
    for (std::size_t k = 0; k < count_; ++k) {
      peers_[k].out.reset(), peers_[k].in.reset();
      theirs_[k] = {}, peers_[k].shared = false;
    }
  open_mpi(first_tag, rooms);
}

// Collective. Whether ranks of the nodes share memory now, all that could.
bool Streams::share(const ConnectGroup& group, std::size_t board_bytes) {
  const std::size_t rings_at = board_at + round_up(board_bytes, MessageRing::alignment);
  std::vector<std::size_t> here;
  std::vector<RingName> mine, theirs;
  std::optional<Error> error = error_of([&] {
    for (std::size_t k = 0; k < count_; ++k)
      if (node_->here(peers_[k].edges.rank)) here.push_back(k);
    mine.resize(here.size()), theirs.resize(here.size());
    const std::size_t payload = frame_for(here.size());
    if (!here.empty())
      own_ = Segment::create(rings_at + here.size() * MessageRing::bytes_for(payload));
    for (std::size_t k = 0; k < here.size(); ++k)
      mine[k] = {own_.name(), rings_at + k * MessageRing::bytes_for(payload), payload};
  });
  if (!all_have_memory(group, error)) return own_ = {}, false;
  ControlMessages names(group.comm, segment_names);
  for (std::size_t k = 0; k < here.size(); ++k) {
    const int peer = peers_[here[k]].edges.rank;
    names.recv(std::span(&theirs[k], 1), peer);
    names.send(std::span(&mine[k], 1), peer);
  }
  names.exchange([&] { group.agree(std::nullopt); });
  error = error_of([&] {
    for (std::size_t k = 0; k < here.size(); ++k) {
      StreamPeer& peer = peers_[here[k]];
      const RingName& name = theirs[k];
      Segment& segment = theirs_[here[k]] =
          Segment::attach(name.segment, Segment::Pages::when_touched);
      const std::size_t bytes = MessageRing::bytes_for(name.payload);
      if (name.payload < sizeof(MessageHead) || name.at < rings_at || name.at > segment.bytes() ||
          name.at % MessageRing::alignment != 0 || bytes > segment.bytes() - name.at)
        fail(Errc::memory, "rank ", peer.edges.rank, " tells of memory that it does not share");
      segment.bring(name.at, bytes);
      if (board_bytes > 0) segment.bring(board_at, board_bytes);
      peer.out = std::make_unique<RingOut>(MessageRing(segment.data() + name.at, name.payload),
                                           name.payload);
      peer.in = std::make_unique<RingIn>(MessageRing(own_.data() + mine[k].at, mine[k].payload));
      peer.shared = true;
      peer.reads_memory = group.reads_memory;
    }
  });
  if (!all_have_memory(group, error)) return own_ = {}, false;
  own_.finish_attach();
  any_shared_ = !here.empty();
  return true;
}

void Streams::open_mpi(int first_tag, const std::vector<std::size_t>& rooms) {
  farewell_tag_ = first_tag + tag_of_farewell;
  for (std::size_t k = 0; k < count_; ++k) {
    StreamPeer& peer = peers_[k];
    if (peer.shared) continue;
    any_mpi_ = true;
    const MpiRoute route{comm_, first_tag, peer.edges.rank};
    const auto seen = std::make_shared<SeenMessages>();
    peer.out = std::make_unique<MpiOut>(route, rooms[k], seen);
    auto in = std::make_unique<MpiIn>(route, room_for(count_), seen);
    in->open();
    peer.in = std::move(in);
  }
}

Streams::~Streams() {
  if (own_ && !in_forked_child()) tell_left(left_word(own_));
}

std::byte* Streams::board() const { return own_.data() + board_at; }
std::byte* Streams::board(std::size_t k) const { return theirs_[k].data() + board_at; }

void Streams::leave() noexcept {
  if (std::exchange(left_, true)) return;
  if (own_) tell_left(left_word(own_));
  // Nobody receives what is under way. MPICH would give the number of a communicator that is freed
  // to a later one, which would then receive it.
  if (any_mpi_) (void)error_of([&] { leak(std::shared_ptr(comm_)); });
  for (std::size_t k = 0; any_mpi_ && mpi_usable() && k < count_; ++k) {
    MPI_Request sent = MPI_REQUEST_NULL;
    if (peers_[k].shared) continue;
    // The program's memory is its own again, with two exceptions. A receive whose message does not
    // end within a second may still write, and what was sent bare may still be read. So programs
    // are told to end, and to free no buffers.
    peers_[k].in->expect_nothing();
    if (MPI_Isend(nullptr, 0, MPI_BYTE, peers_[k].edges.rank, farewell_tag_, comm_->get(), &sent))
      continue;
    MPI_Request_free(&sent);
  }
}

bool Streams::has_left_by_mpi(const StreamPeer& peer) const {
  int here = 0;
  call_mpi("MPI_Iprobe", [&] {
    return MPI_Iprobe(peer.edges.rank, farewell_tag_, comm_->get(), &here, MPI_STATUS_IGNORE);
  });
  return here != 0;
}

void Streams::check(const StreamPeer& peer, int error) const {
  const auto k = static_cast<std::size_t>(&peer - peers_.get());
  if (node_->here(peer.edges.rank) && node_->ended(peer.index, error))
    fail(Errc::peer, "rank ", peer.edges.rank, " (process ", node_->process(peer.index),
         ") has ended, which this rank exchanges blocks with");
  if (peer.shared ? has_left(left_word(theirs_[k])) : has_left_by_mpi(peer))
    fail(Errc::peer, "rank ", peer.edges.rank,
         " has given up an exchange or freed its neighborhood, and this rank waits for it");
}

bool Streams::had_left(const StreamPeer& peer) const {
  return tonari::had_left(left_word(theirs_[static_cast<std::size_t>(&peer - peers_.get())]));
}

}  // namespace tonari
