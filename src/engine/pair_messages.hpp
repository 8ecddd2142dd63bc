// Every rank sends each other rank one message of words, and gets one of each, by streams
// (channels/streams). Nobody needs to know what sizes come.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "channels/streams/streams.hpp"
#include "engine/polled_exchange.hpp"
#include "planners/graphs/rank_group.hpp"

namespace tonari {

class PairMessages final : public PolledExchange<PairMessages> {
 public:
  // The first words of every message are there even if there is no memory for the rest.
  static constexpr std::size_t head_words = 5;
  using Head = std::array<Word, head_words>;

  // streams: to all others, which nobody else uses.
  PairMessages(std::unique_ptr<Streams> streams, WaitPolicy wait);
  ~PairMessages() override;
  PairMessages(const PairMessages&) = delete;
  PairMessages& operator=(const PairMessages&) = delete;

  // The other ranks, ascending.
  std::size_t size() const { return streams_->size(); }
  std::int32_t rank(std::size_t k) const { return (*streams_)[k].edges.rank; }

  // Before start. message: at least a head; it must stay until the exchange is complete.
  void send(std::size_t k, std::span<const Word> message) { links_[k].out = message; }
  // Before start: messages are appended to `arrived`. If they find no memory, what they contain
  // behind their heads is lost.
  void receive(std::vector<Word>& arrived) { arrived_ = &arrived; }
  // After completion.
  const Head& head(std::size_t k) const { return links_[k].head; }
  // Where the words behind the head lie in `arrived`, from first to end.
  std::pair<std::size_t, std::size_t> rest(std::size_t k) const {
    return {links_[k].begin + head_words, links_[k].begin + links_[k].incoming / sizeof(Word)};
  }
  const std::optional<Error>& failure() const { return failure_; }  // at receiving

  // Throws Errc::peer if an earlier exchange failed in the middle.
  void check_start() const override;
  void start() override;
  int messages() const override { return static_cast<int>(size()); }
  Bytes bytes() const override { return 0; }  // nobody asks
  std::size_t scratch_bytes() const override { return streams_->bytes(); }

 private:
  friend PolledExchange;
  enum class Stage : std::uint8_t { first, more, taken, done };
  struct Link {
    std::span<const Word> out;
    Stage sending = Stage::done, receiving = Stage::done;
    bool kept = false;                // what comes has a place in *arrived_
    std::size_t sent = 0, begin = 0;  // bytes; word in *arrived_
    Bytes received = 0, incoming = 0;
    Head head{};
  };

  bool finished() const { return left_ == 0; }
  bool advance();
  void check_peers() const;
  bool send_some(OutStream& out, Link& link);
  bool receive_some(InStream& in, Link& link);
  void expect(Link& link, Bytes bytes, const std::byte* at);
  void keep(Link& link, const std::byte* at, std::size_t bytes);

  std::unique_ptr<Streams> streams_;
  std::vector<Link> links_;
  std::vector<Word>* arrived_ = nullptr;
  std::size_t left_ = 0;  // ends of messages
  std::optional<Error> failure_;
};

}  // namespace tonari
