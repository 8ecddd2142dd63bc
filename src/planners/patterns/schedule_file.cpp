// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/schedule_file.hpp"

#include "base/error.hpp"

namespace tonari {

std::string schedule_text(const CommunicationMatrix& matrix, const MessageSchedule& schedule) {
  std::string all =
      text("tonari schedule 1\nranks ", matrix.ranks(), "\n# stage from to: blocks\n");
  for (const CombinedMessage& m : schedule.messages()) {
    all += text(m.stage, ' ', m.from, ' ', m.to, ':');
    for (BlockNumber b : schedule.blocks(m))
      all += ' ' + std::to_string(matrix.origin(b)) + '-' + std::to_string(matrix.target(b));
    all += '\n';
  }
  return all;
}

}  // namespace tonari
