// SPDX-License-Identifier: BSD-3-Clause
// Messages walk alternating paths (Kempe chains). This is König's proof: edge u-v has no color, a
// is free at u, and b is free at v. If a is free at v too, the walk is done. Else v takes a away
// from its edge to w. That edge gets b if b is free at w, else w takes b away from its edge to x,
// and so on:
//
//      u -?- v -a- w -b- x
//      u -a- v -?- w -b- x
//      u -a- v -b- w -?- x
//
// The path alternates between a and b. It cannot come back to u, where a ends no path that begins
// at v: that is where senders and receivers matter. So it ends, and there the last edge finds its
// color free.
//
// Every state on the way is a valid coloring with one edge without a color, so walks may cross.
// There are no locks and no way back, and giving up at any time is safe. Receivers decide in odd
// steps and senders in even ones. The side that decides has been told of all that the other side
// changed before. A walk changes sides with every hop, so that a hop costs one exchange. Walks that
// meet may spoil each other's pair of colors (then they choose another), not the coloring.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/hash.hpp"
#include "planners/graphs/edge_colors.hpp"

namespace tonari {
namespace {

class Recoloring {
 public:
  Recoloring(BspComm& bsp, EdgeColors& edges, Color palette)
      : bsp_(bsp),
        edges_(edges),
        palette_(palette),
        sender_tokens_(edges.senders.size()),
        receiver_tokens_(edges.receivers.size()) {
    for (std::size_t k = 0; k < edges.senders.size(); ++k)
      for (std::uint32_t e : edges.senders[k].order)
        if (edges.senders[k].colors[e] == uncolored)
          sender_tokens_[k].push_back(
              {e, uncolored, uncolored,
               static_cast<Word>(Hash().word(bsp.here()[k]).word(e).value() >> 1)});
  }

  bool run(int patience) {
    bool sender = true;
    for (std::size_t k = 0; k < sender_tokens_.size(); ++k) propose(k, sender);
    for (;;) {
      const Word left = bsp_.sum(tokens());
      if (left == 0) return true;
      if (step_ >= patience || hopeless(left)) break;
      for (int i = 0; i < exchanges_per_check; ++i) {
        sender = !sender;
        take_turn(sender, true);
      }
    }
    take_turn(!sender, false);
    return false;
  }

 private:
  static constexpr int exchanges_per_check = 8;
  static constexpr int first_rest = 64, rest_period = 16;
  static constexpr Word many = 100;
  static constexpr std::size_t most_offers = 64;  // colors offered for an edge, besides the wish

  // An edge without a color, at the end that is to offer colors for it. wish: first of all this
  // one, if it is free here. back: the color that the edge had, so that it is free at the other
  // end, which may go on with it. uncolored: any.
  struct Token {
    std::uint32_t edge;
    Color wish, back;
    Word walk;  // keeps its number from edge to edge
  };
  // Messages: {color}: the edge that you offered colors for has got this one. {lost}: our edge has
  // lost its color. Longer ones are offers: {wish, back, walk, the chunks of a ColorSet}.
  static constexpr Word lost = -1;

  std::vector<Side>& sides(bool sender) { return sender ? edges_.senders : edges_.receivers; }
  std::vector<Token>& tokens(bool sender, std::size_t k) {
    return (sender ? sender_tokens_ : receiver_tokens_)[k];
  }
  Word tokens() const {
    Word count = 0;
    for (std::size_t k = 0; k < sender_tokens_.size(); ++k)
      count += static_cast<Word>(sender_tokens_[k].size() + receiver_tokens_[k].size());
    return count;
  }

  // In a large graph without gaps a walk only ends where another one stands, and the fewer are
  // left, the longer it takes.
  bool hopeless(Word left) {
    if (!std::has_single_bit(static_cast<unsigned>(step_)) || step_ < first_rest) return false;
    const Word before = std::exchange(left_before_, left);
    return step_ > first_rest && left > many && 2 * left > before;
  }

  // All messages of a step go from one side to the other, whose turn is next.
  void take_turn(bool sender, bool decides) {
    bsp_.exchange();
    ++step_;
    for (std::size_t k : bsp_.receivers()) {
      for (const BspMessage& message : bsp_.inbox(k))
        if (message.words.size() == 1) hear(k, sender, message);
      fresh_.clear();
      for (const BspMessage& message : bsp_.inbox(k))
        if (decides && message.words.size() > 1) decide(k, sender, message);
    }
    for (std::size_t k = 0; decides && k < sender_tokens_.size(); ++k) propose(k, sender);
  }

  void hear(std::size_t k, bool sender, const BspMessage& message) {
    Side& side = sides(sender)[k];
    const std::size_t e = side.edge(message.from);
    if (message.words[0] == lost) {
      side.uncolor(e);
    } else {
      side.color(e, static_cast<Color>(message.words[0]));
      std::erase_if(tokens(sender, k), [&](const Token& token) { return token.edge == e; });
    }
  }

  void decide(std::size_t k, bool sender, const BspMessage& message) {
    Side& side = sides(sender)[k];
    const std::size_t e = side.edge(message.from);
    Color c = static_cast<Color>(message.words[0]);
    const ColorSet offers(message.words.subspan(3));
    const bool free = offers.any(
        [&](Color offered) { return !side.used.contains(offered) && (c = offered, true); });
    if (!free && !take_away(k, sender, c, static_cast<Color>(message.words[1]), message.words[2]))
      return;
    side.color(e, c);
    fresh_.push_back(c);
    bsp_.send(k, message.from, {c});
  }

  // The edge of color c loses it and tries `back` next. Not an edge that has got its color in this
  // step: then the offer is made again.
  bool take_away(std::size_t k, bool sender, Color c, Color back, Word walk) {
    if (std::find(fresh_.begin(), fresh_.end(), c) != fresh_.end()) return false;
    Side& side = sides(sender)[k];
    const std::size_t e =
        std::find(side.colors.begin(), side.colors.end(), c) - side.colors.begin();
    side.uncolor(e);
    tokens(sender, k).push_back({static_cast<std::uint32_t>(e), back, c, walk});
    bsp_.send(k, side.peers[e], {lost});
    return true;
  }

  // Offers colors that are free here for every token, no color for two of them. There are enough: a
  // side has at least as many free colors as edges without one.
  void propose(std::size_t k, bool sender) {
    std::vector<Token>& tokens = this->tokens(sender, k);
    if (tokens.empty()) return;
    const Side& side = sides(sender)[k];
    FreeColors free{side.used, palette_,
                    static_cast<Color>(Hash().word(bsp_.here()[k]).word(step_).value() % palette_)};
    grant_wishes(tokens, free);
    const auto without = std::count(side.colors.begin(), side.colors.end(), uncolored);
    std::size_t left = palette_ - side.peers.size() + without - tokens.size();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      ColorSet offered;
      offered.insert(tokens[i].wish);
      const std::size_t share = std::min(left / (tokens.size() - i), most_offers);
      for (std::size_t n = 0; n < share; ++n) offered.insert(free.take_any());
      left -= share;
      if (!rests(tokens[i])) put_offer(k, side.peers[tokens[i].edge], tokens[i], offered);
    }
  }

  struct FreeColors {
    ColorSet taken;
    Color palette, next;  // next: where to look first
    Color take_any() {
      next = taken.next_outside(next);
      if (next >= palette) next = taken.next_outside(0);
      taken.insert(next);
      return next;
    }
  };

  static void grant_wishes(std::vector<Token>& tokens, FreeColors& free) {
    for (Token& token : tokens) {
      if (token.wish != uncolored && free.taken.contains(token.wish)) token.wish = uncolored;
      if (token.wish != uncolored) free.taken.insert(token.wish);
    }
    for (Token& token : tokens)
      if (token.wish == uncolored) token.wish = free.take_any();
  }

  // Two walks in one pair of colors can chase each other round a cycle for ever. So after a while
  // half of the walks rest in every period, and the others come to where they stand, which is the
  // end of a path.
  bool rests(const Token& token) const {
    return step_ >= first_rest &&
           Hash().word(token.walk).word(step_ / rest_period).value() % 2 == 0;
  }

  void put_offer(std::size_t k, std::int32_t to, const Token& token, const ColorSet& offered) {
    words_.assign({token.wish, token.back, token.walk});
    words_.insert(words_.end(), offered.words().begin(), offered.words().end());
    bsp_.send(k, to, words_);
  }

  BspComm& bsp_;
  EdgeColors& edges_;
  Color palette_;
  std::vector<std::vector<Token>> sender_tokens_, receiver_tokens_;
  int step_ = 0;
  Word left_before_ = 0;      // tokens at half as many steps
  std::vector<Color> fresh_;  // given in this step by the side that decides now
  std::vector<Word> words_;
};

}  // namespace

bool recolor(BspComm& bsp, EdgeColors& edges, Color palette, int patience) {
  return Recoloring(bsp, edges, palette).run(patience);
}

}  // namespace tonari
