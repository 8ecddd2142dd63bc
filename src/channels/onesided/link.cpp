// SPDX-License-Identifier: BSD-3-Clause
#include "channels/onesided/link.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "channels/control_messages.hpp"
#include "channels/onesided/edges.hpp"
#include "channels/onesided/rtr_tree.hpp"
#include "memory/memory.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {
namespace {

using Message = OneSided::Message;
using Ranks = std::vector<int>;

// The messages to or from every rank that has any, by tag: the same order at both ends. Empty ones
// do not travel.
std::map<int, std::vector<std::size_t>> by_peer(std::span<const Message> messages) {
  std::map<int, std::vector<std::size_t>> peers;
  for (std::size_t k = 0; k < messages.size(); ++k)
    if (messages[k].bytes > 0) peers[messages[k].peer].push_back(k);
  for (auto& [peer, own] : peers)
    std::sort(own.begin(), own.end(),
              [&](std::size_t a, std::size_t b) { return messages[a].tag < messages[b].tag; });
  return peers;
}

// Tells whether a message is packed into the channel's own memory before it is sent.
bool staged(const Message& m, const OneSided::Options& options) {
  return m.bytes > 0 && m.bytes <= std::max(options.staged_bytes, options.short_bytes);
}

// Memory in which short messages are packed, and to which the shortest ones are fetched if the
// window cannot be read.
std::size_t staging_bytes(std::span<const Message> out, std::span<const Message> in,
                          const OneSided::Options& options) {
  std::size_t bytes = 0;
  for (const Message& m : out)
    if (staged(m, options))
      bytes += static_cast<std::size_t>(MessagePlace(m.bytes, options.short_bytes).stride());
  for (const Message& m : in)
    if (const MessagePlace place(m.bytes, options.short_bytes); place.twice)
      bytes += 2 * static_cast<std::size_t>(place.stride());
  return bytes;
}

class WindowMessages final : public OneSided {
 public:
  WindowMessages(Windows& windows, std::span<const Message> out, std::span<const Message> in,
                 const Options& options)
      : comm_(windows.comm()),
        options_(options),
        out_messages_(out.begin(), out.end()),
        in_messages_(in.begin(), in.end()),
        targets_(by_peer(out)),
        sources_(by_peer(in)) {
    MPI_Comm_rank(comm_, &rank_);
    options_.degree = std::max(options_.degree, 1);
  }
  // Collective; every step begins with fail_together.
  void connect(Windows& windows) {
    learn_families();
    const std::size_t bytes = allocate();
    words_ = std::make_unique<RemoteWords>(windows.take(bytes), rank_, options_.separate);
    words_->reserve(out_messages_.size());
    learn_places();
    learn_ready_words();
    make_edges();
  }
  // What was written must arrive before someone else takes the window, even if ranks that only
  // receive wrote last.
  ~WindowMessages() override {
    if (!words_ || !mpi_usable() || words_->window() == MPI_WIN_NULL) return;
    const InMpi in("MPI_Win_flush_all");
    MPI_Win_flush_all(words_->window());
  }
  WindowMessages(const WindowMessages&) = delete;
  WindowMessages& operator=(const WindowMessages&) = delete;

  OutEdge& out(std::size_t k) override { return *outs_[k]; }
  InEdge& in(std::size_t k) override { return *ins_[k]; }
  bool unified() const override { return words_->unified(); }
  std::size_t messages() const override { return out_messages_.size(); }
  std::size_t bytes() const override { return words_->bytes() + staging_.bytes(); }

  void progress() override {
    for (const auto& [sender, node] : nodes_) node->progress();
    words_->flush();
    int found = 0;
    // finds nothing, but lets the MPI proceed
    call_mpi("MPI_Iprobe", [&] { return MPI_Iprobe(rank_, 0, comm_, &found, MPI_STATUS_IGNORE); });
  }

 private:
  // A rank in the tree of a sender.
  struct Family {
    int parent = MPI_PROC_NULL;
    Ranks children;
    MPI_Aint words = 0;      // of the children, here
    MPI_Aint in_parent = 0;  // ours, there
  };

  // Every sender, and so this rank, tells its targets to which rank they report.
  void learn_families() {
    ControlMessages messages(comm_, window_family);
    Ranks targets;
    for (const auto& [target, own] : targets_) targets.push_back(target);
    const bool tree = options_.ready == Ready::tree;
    const RtrTree shape(rank_, targets, options_.degree);
    const auto head = shape.children_of_sender();
    root_.children = tree ? Ranks(head.begin(), head.end()) : shape.order();
    tree_words_ = root_.children.size();
    // the last user: only messages to this rank itself wait for it
    if (targets_.contains(rank_)) root_.children.push_back(rank_);

    for (const auto& [sender, own] : sources_) families_[sender].parent = sender;
    if (!tree) return;
    std::vector<Ranks> told(shape.order().size());
    for (std::size_t place = 0; place < told.size(); ++place) {
      const auto children = shape.children(place);
      told[place] = Ranks(static_cast<std::size_t>(options_.degree) + 1, MPI_PROC_NULL);
      told[place][0] = shape.parent(place);
      std::copy(children.begin(), children.end(), told[place].begin() + 1);
      messages.send(told[place], shape.order()[place]);
    }
    std::map<int, Ranks> heard;
    for (const auto& [sender, own] : sources_) {
      if (sender == rank_) continue;
      heard[sender].resize(static_cast<std::size_t>(options_.degree) + 1);
      messages.recv(heard[sender], sender);
    }
    exchange(messages);
    for (const auto& [sender, ranks] : heard) {
      families_[sender].parent = ranks[0];
      std::copy_if(ranks.begin() + 1, ranks.end(), std::back_inserter(families_[sender].children),
                   [](int rank) { return rank != MPI_PROC_NULL; });
    }
  }

  // The window has the places of incoming messages, then the words of ranks that report to this
  // one. Returns the bytes needed.
  std::size_t lay_out() {
    MPI_Aint next = 0;
    for (const Message& m : in_messages_) {
      MessagePlace& place = in_places_.emplace_back(m.bytes, options_.short_bytes);
      place.first = next;
      if (m.bytes > 0) next += 2 * place.stride();
    }
    const auto words = [&](Family& family) {
      family.words = next;
      next += static_cast<MPI_Aint>(family.children.size()) * ReadyWord::bytes;
    };
    words(root_);
    for (auto& [sender, family] : families_) words(family);
    return static_cast<std::size_t>(next);
  }

  // Makes sure that there is room for everything before any is taken: windows, packed messages, and
  // places to fetch short messages to. Returns the bytes of the window.
  std::size_t allocate() {
    const Bytes mine = needed(out_messages_, in_messages_, options_);
    const std::size_t bytes = lay_out();
    check_room(mine);
    staging_ = Memory(staging_bytes(out_messages_, in_messages_, options_));
    if (staging_.bytes() > 0) std::memset(staging_.data(), 0, staging_.bytes());
    return bytes;
  }

  // Systems promise more memory than they have: a process that does not ask first may be killed
  // when it touches it.
  void check_room(Bytes mine) const {
    const int ranks = ranks_of(comm_);
    std::vector<Bytes> all(static_cast<std::size_t>(ranks));
    fail_together(comm_, std::nullopt);
    gather_all(&mine, 1, MPI_UINT64_T, all.data(), comm_);
    Bytes left = options_.free;
    for (std::int32_t rank : options_.node) {
      const Bytes its = all[static_cast<std::size_t>(rank)];
      if (its > left)
        fail(Errc::mpi, "one-sided messages of the ranks of this node (", mine,
             " bytes of this rank) need more memory than the ", options_.free,
             " bytes that are left; use another channel, smaller blocks or fewer ranks on this "
             "node");
      left -= its;
    }
  }

  // Receivers tell senders where their messages go.
  void learn_places() {
    ControlMessages messages(comm_, window_place);
    std::vector<std::vector<MPI_Aint>> told, heard;
    for (const auto& [sender, own] : sources_) {
      auto& places = told.emplace_back();
      for (std::size_t k : own)
        places.insert(places.end(),
                      {in_places_[k].first, static_cast<MPI_Aint>(in_places_[k].bytes)});
      messages.send(places, sender);
    }
    for (const auto& [target, own] : targets_)
      messages.recv(heard.emplace_back(2 * own.size()), target);
    exchange(messages);
    std::string reason;
    out_places_.resize(out_messages_.size());
    auto places = heard.begin();
    for (const auto& [target, own] : targets_) {
      for (std::size_t k = 0; k < own.size(); ++k)
        reason += read_place(own[k], (*places)[2 * k], (*places)[2 * k + 1]);
      ++places;
    }
    if (!reason.empty()) fail(Errc::mpi, reason);
  }

  std::string read_place(std::size_t k, MPI_Aint first, MPI_Aint bytes) {
    const Message& m = out_messages_[k];
    out_places_[k] = MessagePlace(m.bytes, options_.short_bytes);
    out_places_[k].first = first;
    if (static_cast<Bytes>(bytes) == m.bytes) return "";
    return text("a message to rank ", m.peer, " has ", m.bytes, " bytes here and ", bytes,
                " there. ");
  }

  // Parents tell their children where to report. Two ranks may be parent and child for several
  // senders, so messages between them come in the order of the senders.
  void learn_ready_words() {
    ControlMessages messages(comm_, window_ready);
    std::deque<MPI_Aint> told;
    const auto tell = [&](const Family& family) {
      for (std::size_t k = 0; k < family.children.size(); ++k) {
        told.push_back(family.words + static_cast<MPI_Aint>(k) * ReadyWord::bytes);
        messages.send(std::span(&told.back(), 1), family.children[k]);
      }
    };
    // this rank is a sender, and may be its own receiver without children
    std::map<int, std::vector<const Family*>> in_order{{rank_, {&root_}}};
    for (const auto& [sender, family] : families_) in_order[sender].push_back(&family);
    for (const auto& [sender, families] : in_order)
      for (const Family* family : families) tell(*family);
    for (auto& [sender, family] : families_)
      messages.recv(std::span(&family.in_parent, 1), family.parent);
    exchange(messages);
  }

  void exchange(ControlMessages& messages) const {
    messages.exchange([this] { fail_together(comm_, std::nullopt); });
  }

  void make_edges() {
    std::byte* next = staging_.data();
    for (const auto& [sender, own] : sources_) {
      const Family& f = families_[sender];
      nodes_[sender] = std::make_unique<RtrNode>(
          *words_, RtrNode::Links{sender, f.parent, f.in_parent, f.words, f.children, own.size()});
    }
    for (std::size_t k = 0; k < out_messages_.size(); ++k) {
      const auto [rtr, reporters] = ready_words(out_messages_[k].peer);
      const bool packs = staged(out_messages_[k], options_);
      outs_.push_back(std::make_unique<OneSidedOut>(*words_, out_messages_[k].peer, out_places_[k],
                                                    packs ? next : nullptr, rtr, reporters));
      if (packs) next += out_places_[k].stride();
    }
    for (std::size_t k = 0; k < in_messages_.size(); ++k) {
      const auto node = nodes_.find(in_messages_[k].peer);
      ins_.push_back(std::make_unique<OneSidedIn>(
          *words_, in_places_[k], next, node == nodes_.end() ? nullptr : node->second.get()));
      if (in_places_[k].twice) next += 2 * in_places_[k].stride();
    }
  }

  // The words that say that a target is ready: those of the whole tree, or its own.
  std::pair<MPI_Aint, std::size_t> ready_words(int target) const {
    if (options_.ready == Ready::tree && target != rank_) return {root_.words, tree_words_};
    const auto at =
        std::find(root_.children.begin(), root_.children.end(), target) - root_.children.begin();
    return {root_.words + static_cast<MPI_Aint>(at) * ReadyWord::bytes, 1};
  }

  MPI_Comm comm_;
  int rank_ = 0;
  Options options_;
  std::vector<Message> out_messages_, in_messages_;
  std::map<int, std::vector<std::size_t>> targets_, sources_;

  Family root_;                     // of this rank's tree
  std::size_t tree_words_ = 0;      // of the children of root_, without this rank
  std::map<int, Family> families_;  // by sender
  std::vector<MessagePlace> in_places_, out_places_;
  Memory staging_;

  std::unique_ptr<RemoteWords> words_;
  std::map<int, std::unique_ptr<RtrNode>> nodes_;
  std::vector<std::unique_ptr<OneSidedOut>> outs_;
  std::vector<std::unique_ptr<OneSidedIn>> ins_;
};

}  // namespace

Bytes OneSided::needed(std::span<const Message> out, std::span<const Message> in,
                       const Options& options) {
  constexpr Bytes most = std::numeric_limits<MPI_Aint>::max() / 4;
  constexpr const char* what = "bytes for one-sided messages";
  Bytes bytes = staging_bytes(out, in, options);
  for (const Message& m : in) {
    if (m.bytes > most)
      fail(Errc::overflow, "a message of ", m.bytes, " bytes is too long for a window");
    if (m.bytes > 0)
      bytes = checked_add(
          bytes, 2 * static_cast<Bytes>(MessagePlace(m.bytes, options.short_bytes).stride()), what);
  }
  if (bytes > most) fail(Errc::overflow, what, ": ", bytes, " are too many for a window");
  return bytes;
}

std::unique_ptr<OneSided> OneSided::make(Windows& windows, std::span<const Message> out,
                                         std::span<const Message> in, const Options& options) {
  std::unique_ptr<WindowMessages> made;
  const std::optional<Error> error = error_of([&] {
    made = std::make_unique<WindowMessages>(windows, out, in, options);
    made->connect(windows);
  });
  if (error && error->on_all_ranks()) throw *error;
  fail_together(windows.comm(), error);
  return made;
}

}  // namespace tonari
