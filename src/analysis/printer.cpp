// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/printer.hpp"

#include <sstream>

#include "base/classic.hpp"

namespace tonari {
namespace {

std::string block_name(Slice s) {
  const char buffer = s.buffer == Buffer::send ? 's' : s.buffer == Buffer::recv ? 'r' : 't';
  return buffer + std::to_string(s.block);
}

// s0-8 s17: runs of neighboring blocks are shortened.
std::string block_list(std::span<const Slice> slices, std::size_t most) {
  std::string list;
  std::size_t shown = 0;
  for (std::size_t k = 0; k < slices.size(); ++shown) {
    if (shown == most) return list + " ...";
    std::size_t end = k + 1;
    while (end < slices.size() && slices[end].buffer == slices[k].buffer &&
           slices[end].block == slices[end - 1].block + 1)
      ++end;
    list += (shown ? " " : "") + block_name(slices[k]);
    if (end - k > 1) list += "-" + std::to_string(slices[end - 1].block);
    k = end;
  }
  return list;
}

class Printer {
 public:
  Printer(const Plan& plan, const PrintOptions& options) : plan_(plan), options_(options) {}

  std::string text() {
    const std::vector<int> level = plan_.levels();
    for (int round = 0; round <= plan_.depth(); ++round) {
      bool titled = false;
      for (OpId op = 0; op < plan_.size(); ++op) {
        if (level[op] != round) continue;
        if (!titled)
          out_ << (round == 0 ? std::string("at once") : "round " + std::to_string(round)) << '\n';
        titled = true;
        line(op);
      }
    }
    return out_.str();
  }

 private:
  void line(OpId op) {
    const Operation& o = plan_[op];
    if (o.kind == Kind::copy) {
      out_ << "  copy " << block_list(plan_.copy_sources(o), options_.most_blocks) << " to "
           << block_list(plan_.copy_targets(o), options_.most_blocks) << size(plan_.copy_sources(o))
           << '\n';
      return;
    }
    const std::string peer =
        options_.peer ? options_.peer(o.peer) : "rank " + std::to_string(o.peer);
    out_ << (o.kind == Kind::send   ? "  send to   "
             : o.kind == Kind::recv ? "  recv from "
                                    : "  swap with ")
         << peer << "  " << block_list(plan_.slices(o), options_.most_blocks)
         << size(plan_.slices(o)) << '\n';
  }
  std::string size(std::span<const Slice> slices) const {
    std::string text =
        "  [" + std::to_string(slices.size()) + (slices.size() == 1 ? " block" : " blocks");
    if (options_.bytes) {
      std::uint64_t bytes = 0;
      for (Slice s : slices) bytes += options_.bytes(s);
      text += ", " + std::to_string(bytes) + " B";
    }
    return text + "]";
  }

  const Plan& plan_;
  const PrintOptions& options_;
  Classic<std::ostringstream> out_;
};

}  // namespace

std::string print(const Plan& plan, const PrintOptions& options) {
  return Printer(plan, options).text();
}

}  // namespace tonari
