// SPDX-License-Identifier: BSD-3-Clause
#include "channels/streams/link.hpp"

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

}  // namespace

// What neighbors on a node tell each other, to share memory.
struct Streams::Rings {
  // Where a sender finds its ring.
  struct Name {
    SegmentName segment;
    std::uint64_t at = 0, payload = 0;
  };

  std::size_t board_bytes, at = board_at + round_up(board_bytes, MessageRing::alignment);
  std::vector<std::size_t> peers = {};  // that are on this node
  std::vector<Name> mine = {}, theirs = {};
  std::optional<Error> error = std::nullopt;  // why this rank has none
};

Streams::Streams(const ConnectComm& on, std::vector<NeighborEdges> neighbors,
                 const std::shared_ptr<const OwnedComm>& comm, int first_tag,
                 std::size_t board_bytes)
    : node_(on.node), comm_(comm), rank_(on.rank) {
  make_peers(std::move(neighbors), first_tag);
  Rings rings{.board_bytes = board_bytes};
  make_rings(rings);
  const std::vector<std::size_t> rooms = tell_all(on, rings);
  if (!attach(on, rings)) {
    own_ = {};
    for (std::size_t k = 0; k < count_; ++k) {
      peers_[k].out.reset(), peers_[k].in.reset();
      theirs_[k] = {}, peers_[k].shared = false;
    }
  }
  for (std::size_t k = 0; k < count_; ++k)
    if (!peers_[k].shared) open_mpi(peers_[k], first_tag, rooms[k], room_for(count_));
}

Streams::Streams(std::shared_ptr<const Node> node, std::int32_t rank,
                 std::vector<NeighborEdges> neighbors, const std::shared_ptr<const OwnedComm>& comm,
                 int first_tag)
    : node_(std::move(node)), comm_(comm), rank_(rank) {
  make_peers(std::move(neighbors), first_tag);
  told_numbers_ = std::make_unique<ToldNumbers>(comm_, first_tag + tag_of_numbers);
  for (std::size_t k = 0; k < count_; ++k) {
    const NeighborEdges& edges = peers_[k].edges;
    told_numbers_->add(edges.rank, edges.received_numbers, edges.sent.size());
    open_mpi(peers_[k], first_tag, eager_part, eager_part);
  }
}

void Streams::make_peers(std::vector<NeighborEdges> neighbors, int first_tag) {
  farewell_tag_ = first_tag + tag_of_farewell;
  count_ = neighbors.size();
  peers_ = std::make_unique<StreamPeer[]>(count_);
  theirs_.resize(count_);
  for (std::size_t k = 0; k < count_; ++k) {
    StreamPeer& peer = peers_[k];
    peer.edges = std::move(neighbors[k]);
    peer.index = node_->index(peer.edges.rank);
    peer.sent_numbers = peer.edges.sent;  // until they are known
  }
}

void Streams::make_rings(Rings& rings) {
  for (std::size_t k = 0; k < count_; ++k)
    if (node_->here(peers_[k].edges.rank)) rings.peers.push_back(k);
  const std::size_t count = rings.peers.size();
  rings.mine.resize(count), rings.theirs.resize(count);
  if (count == 0) return;
  rings.error = error_of([&] {
    const std::size_t payload = frame_for(count), bytes = MessageRing::bytes_for(payload);
    own_ = Segment::create(rings.at + count * bytes);
    for (std::size_t n = 0; n < count; ++n)
      rings.mine[n] = {own_.name(), rings.at + n * bytes, payload};
  });
}

// Collective: where rings are, and how receivers number blocks. Returns the room of a receive of
// each peer.
std::vector<std::size_t> Streams::tell_all(const ConnectComm& on, Rings& rings) {
  std::vector<std::vector<std::uint32_t>> mine(count_), theirs(count_);  // the room comes last
  for (std::size_t k = 0; k < count_; ++k) {
    mine[k] = peers_[k].edges.received_numbers;
    mine[k].push_back(static_cast<std::uint32_t>(room_for(count_)));
    theirs[k] = peers_[k].sent_numbers;
    theirs[k].push_back(eager_part);
  }
  ControlMessages told(on.comm, segment_names);
  for (std::size_t k = 0; k < count_; ++k) {
    if (theirs[k].size() > 1) told.recv(std::span(theirs[k]), peers_[k].edges.rank);
    if (mine[k].size() > 1) told.send(std::span(mine[k]), peers_[k].edges.rank);
  }
  for (std::size_t n = 0; n < rings.peers.size(); ++n) {
    told.recv(std::span(&rings.theirs[n], 1), peers_[rings.peers[n]].edges.rank);
    told.send(std::span(&rings.mine[n], 1), peers_[rings.peers[n]].edges.rank);
  }
  std::vector<std::size_t> rooms(count_);
  // A rank without rings tells empty names. What it lacks memory for elsewhere ends all.
  told.exchange([&] { on.agree(std::nullopt); });
  for (std::size_t k = 0; k < count_; ++k) {
    rooms[k] = theirs[k].back();
    std::copy_n(theirs[k].begin(), peers_[k].sent_numbers.size(), peers_[k].sent_numbers.begin());
  }
  return rooms;
}

// Collective. Whether ranks of the nodes share memory now, all that could. A rank that finds no
// rings of another lets that one say why.
bool Streams::attach(const ConnectComm& on, Rings& rings) {
  const auto has_none = [](const Rings::Name& name) { return name.payload == 0; };
  const bool all_made = std::ranges::none_of(rings.theirs, has_none);
  const auto attach_all = [&] {
    for (std::size_t n = 0; n < rings.peers.size(); ++n) {
      StreamPeer& peer = peers_[rings.peers[n]];
      const Rings::Name &mine = rings.mine[n], &name = rings.theirs[n];
      Segment& segment = theirs_[rings.peers[n]] =
          Segment::attach(name.segment, Segment::Pages::when_touched);
      const std::size_t bytes = MessageRing::bytes_for(name.payload);
      if (name.payload < sizeof(MessageHead) || name.at < rings.at || name.at > segment.bytes() ||
          name.at % MessageRing::alignment != 0 || bytes > segment.bytes() - name.at)
        fail(Errc::memory, "rank ", peer.edges.rank, " tells of memory that it does not share");
      segment.bring(name.at, bytes);
      if (rings.board_bytes > 0) segment.bring(board_at, rings.board_bytes);
      peer.out = std::make_unique<RingOut>(MessageRing(segment.data() + name.at, name.payload),
                                           name.payload);
      peer.in = std::make_unique<RingIn>(MessageRing(own_.data() + mine.at, mine.payload));
      peer.shared = true;
      peer.reads_memory = on.reads_memory;
    }
  };
  if (!rings.error && all_made) rings.error = error_of(attach_all);
  std::string refusal;  // then all go by MPI
  if (!all_have_memory(on, rings.error, refusal)) return false;
  own_.finish_attach();
  any_shared_ = !rings.peers.empty();
  return true;
}

// sent: bytes of the peer's receive; received: of this rank's.
void Streams::open_mpi(StreamPeer& peer, int first_tag, std::size_t sent, std::size_t received) {
  any_mpi_ = true;
  const MpiRoute route{comm_, first_tag, peer.edges.rank};
  const auto seen = std::make_shared<SeenMessages>();
  peer.out = std::make_unique<MpiOut>(route, sent, seen);
  auto in = std::make_unique<MpiIn>(route, received, seen);
  in->open();
  peer.in = std::move(in);
}

void Streams::tell_numbers() {
  if (told_numbers_) told_numbers_->tell();
}

void Streams::learn_numbers(StreamPeer& peer) {
  if (!told_numbers_) return;
  const auto told = told_numbers_->of(static_cast<std::size_t>(&peer - peers_.get()));
  std::ranges::copy(told, peer.sent_numbers.begin());
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
