// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/case.hpp"

#include "support/graph_exchange.hpp"

namespace tonari::fuzz {
namespace {

using Maker = std::unique_ptr<Exchange> (*)(Draws&);
struct Kind {
  const char* name;
  Maker make;
  int weight;
};
constexpr Kind kinds[] = {{"operation", make_operation, 6}, {"inplace", make_in_place, 3},
                          {"vector", make_vector, 3},       {"grid", make_grid, 2},
                          {"blocks", make_blocks, 2},       {"sparse", make_sparse, 2},
                          {"group", make_group, 2}};

const Kind& draw_kind(Random& common, const std::string& wanted) {
  int all = 0;
  for (const Kind& kind : kinds) {
    if (wanted == kind.name) return kind;
    all += kind.weight;
  }
  if (!wanted.empty()) throw Failed("there is no kind '" + wanted + "'");
  int drawn = pick(common, 0, all - 1);
  for (const Kind& kind : kinds)
    if ((drawn -= kind.weight) < 0) return kind;
  return kinds[0];
}

class KeysAsInfo {
 public:
  explicit KeysAsInfo(const Keys& keys) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : keys) MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  ~KeysAsInfo() { MPI_Info_free(&info_); }
  KeysAsInfo(const KeysAsInfo&) = delete;
  KeysAsInfo& operator=(const KeysAsInfo&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

std::string words(const Keys& keys) {
  std::string text;
  for (const auto& [key, value] : keys) text += " " + key + "=" + value;
  return text;
}

std::vector<std::size_t> shuffled(std::size_t n, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

void must(int code, const char* what) {
  if (code != TONARI_SUCCESS)
    throw Failed(std::string(what) + " returned " + std::to_string(code) + ": " +
                 tonari_last_error());
}

Keys neighbor_keys(Random& common) {
  static const char* const channels[] = {"auto",   "auto",     "p2p-typed",      "p2p-packed",
                                         "shared", "onesided", "shared+onesided"};
  static const char* const tunes[] = {"off", "off", "off", "model", "online"};
  Keys keys{{"tonari_channel", word(common, channels)}, {"tonari_tune", word(common, tunes)}};
  if (pick(common, 0, 15) == 0) keys.emplace_back("tonari_progress", "thread");
  return keys;
}

struct Case::Item {
  Exchange* exchange;
  Form form;
  Keys keys;
  tonari_request request = TONARI_REQUEST_NULL;
  bool active = false;
};

Case::Case(std::uint32_t seed, const Place& place, const std::string& kind)
    : common_(seed), own_(seed * 31 + 7u * static_cast<unsigned>(place.rank) + 1), place_(place) {
  test::Nodes::set(place.nodes);
  make(kind);
}
Case::~Case() = default;

void Case::make(const std::string& kind) {
  Draws draws{place_, common_, own_, exchanges_};
  for (int n = pick(common_, 1, pick(common_, 1, 5)); n > 0; --n) {
    exchanges_.push_back(draw_kind(common_, kind).make(draws));
    Exchange& exchange = *exchanges_.back();
    Item item{&exchange, static_cast<Form>(pick(common_, 0, 2)), {}};
    while (!exchange.offers(item.form)) item.form = static_cast<Form>(pick(common_, 0, 2));
    item.keys = exchange.keys(common_, item.form);
    static const char* const forms[] = {"request", "call that starts", "call"};
    told_ += (told_.empty() ? "" : "; ") + exchange.label + " (" +
             forms[static_cast<int>(item.form)] + words(item.keys) + ")";
    items_.push_back(item);
  }
}

void Case::check(int code, const Item& item, const char* call) const {
  if (code == TONARI_SUCCESS) return;
  throw Failed(std::string(call) + " of " + item.exchange->label + words(item.keys) + " returned " +
               std::to_string(code) + ": " + tonari_last_error());
}

// What does not apply to the exchange is refused on all ranks; then it is left to the library.
void Case::make_request(Item& item) {
  item.exchange->prepare(-1);
  int code = item.exchange->init(KeysAsInfo(item.keys), &item.request);
  for (const char* key : {"tonari_algorithm", "tonari_halo"})
    for (auto& [name, value] : item.keys)
      if (code == TONARI_ERR_ALGORITHM && name == key) {
        value = "auto";
        code = item.exchange->init(KeysAsInfo(item.keys), &item.request);
      }
  check(code, item, "init");
}

// Requests in an order of this rank's own; calls that all ranks make in one order, since they are
// collective, in between.
void Case::start_all() {
  std::vector<std::size_t> order = shuffled(items_.size(), own_), calls;
  for (const std::size_t k : order)
    if (items_[k].form != Form::request) calls.push_back(k);
  std::sort(calls.begin(), calls.end());
  std::size_t next = 0;
  for (std::size_t& k : order)
    if (items_[k].form != Form::request) k = calls[next++];
  for (const std::size_t k : order) {
    Item& item = items_[k];
    item.exchange->prepare(round_);
    item.active = true;
    if (item.form == Form::request) {
      check(item.exchange->start(item.request), item, "start");
    } else if (item.form == Form::started) {
      check(item.exchange->begin(KeysAsInfo(item.keys), &item.request), item, "a call that starts");
    } else {
      check(item.exchange->call(KeysAsInfo(item.keys)), item, "a call");
      finish(item);
    }
  }
}

void Case::finish(Item& item) {
  if (!item.active) return;
  item.active = false;
  const std::string said =
      item.exchange->wrong(round_, item.form == Form::request ? item.request : TONARI_REQUEST_NULL);
  if (wrong_.empty() && !said.empty()) {
    const char* const chosen = item.request ? tonari_request_describe(item.request) : "";
    wrong_ = item.exchange->label + words(item.keys) + ", round " + std::to_string(round_) + ": " +
             said + (*chosen ? std::string(" (") + chosen + ")" : "");
    std::replace(wrong_.begin(), wrong_.end(), '\n', ' ');
  }
  if (item.form == Form::started) check(tonari_request_free(&item.request), item, "free");
}

// Only tests and tonari_waitall promise that any order is fine.
void Case::complete_all() {
  std::vector<Item*> active;
  for (const std::size_t k : shuffled(items_.size(), own_))
    if (items_[k].active) active.push_back(&items_[k]);
  for (std::size_t left = own_() % (active.size() + 1); active.size() > left;) {
    const std::size_t k = own_() % active.size();
    int flag = 0;
    check(tonari_test(active[k]->request, &flag), *active[k], "test");
    if (!flag) continue;
    finish(*active[k]);
    active.erase(active.begin() + static_cast<std::ptrdiff_t>(k));
  }
  std::vector<tonari_request> rest{TONARI_REQUEST_NULL};
  for (const Item* item : active) rest.push_back(item->request);
  must(tonari_waitall(static_cast<int>(rest.size()), rest.data()), "tonari_waitall");
  for (Item* item : active) finish(*item);
}

void Case::free_requests() {
  for (const std::size_t k : shuffled(items_.size(), own_))
    if (items_[k].form == Form::request)
      check(tonari_request_free(&items_[k].request), items_[k], "free");
}

std::string Case::run() {
  for (Item& item : items_)
    if (item.form == Form::request) make_request(item);
  std::vector<Exchange*> left;
  const bool early = pick(common_, 0, 3) == 0;
  for (const Item& item : items_) {
    if (early && item.form == Form::request && item.exchange->may_be_freed_early())
      item.exchange->free();
    else
      left.push_back(item.exchange);
  }
  const int rounds = pick(common_, 1, 4);
  for (round_ = 0; round_ < rounds; ++round_) {
    start_all();
    complete_all();
  }
  free_requests();
  for (Exchange* exchange : left) exchange->free();
  return wrong_;
}

}  // namespace tonari::fuzz
