// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/remembered_choices.hpp"

#include "base/setting_table.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {

const Choice& RememberedChoices::of(Context& context, const Problem& problem,
                                    const Settings& settings) {
  const std::string key = text(problem_key(problem, settings), "|", fingerprint(settings));
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  std::map<std::string, Choice> fresh;
  fresh.emplace(key, choose_unmeasured(context, problem, settings));
  stay_together(context.comm());
  choices_.merge(fresh);  // on all ranks or on none: it decides who asks the others
  return choices_.find(key)->second;
}

}  // namespace tonari
