// SPDX-License-Identifier: BSD-3-Clause
#include "preload/persistent.hpp"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "mpi/world.hpp"
#include "preload/hook.hpp"
#include "preload/progress.hpp"

namespace tonari::preload {

struct Token {
  tonari_request exchange = TONARI_REQUEST_NULL;
  std::uint64_t bytes = 0;
  int tag = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  bool active = false;
};

namespace {

// Never destroyed: programs may free requests until MPI_Finalize, which may come late. Only where
// one thread at a time calls the MPI (mpi_drives_exchanges).
struct Tokens {
  MPI_Comm self = MPI_COMM_NULL;  // for the messages
  std::unordered_map<MPI_Request, std::unique_ptr<Token>> all;
  std::vector<int> free_tags;
  int next_tag = 0;
};
Tokens& tokens() { return lasting<Tokens>(); }

int take_tag() {
  if (tokens().free_tags.empty()) return tokens().next_tag++;
  const int tag = tokens().free_tags.back();
  tokens().free_tags.pop_back();
  return tag;
}

// A communicator of this rank alone, which only its own rank makes.
int make_alone(MPI_Comm comm, MPI_Comm* made) {
  if (world_runs()) return PMPI_Comm_dup(MPI_COMM_SELF, made);
  MPI_Group all = MPI_GROUP_NULL, self = MPI_GROUP_NULL;
  int rank = 0, rc = PMPI_Comm_rank(comm, &rank);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_group(comm, &all);
  if (rc == MPI_SUCCESS) rc = PMPI_Group_incl(all, 1, &rank, &self);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_create_group(comm, self, 0, made);
  if (self != MPI_GROUP_NULL) PMPI_Group_free(&self);
  if (all != MPI_GROUP_NULL) PMPI_Group_free(&all);
  return rc;
}

// Once for all tokens.
int find_self(MPI_Comm comm) {
  if (tokens().self != MPI_COMM_NULL) return MPI_SUCCESS;
  MPI_Comm made = MPI_COMM_NULL;
  const int rc = make_alone(comm, &made);
  if (rc == MPI_SUCCESS) tokens().self = made;
  return rc;
}

void free_exchange(Token& token) {
  const InTonari now;
  (void)tonari_request_free(&token.exchange);
  tokens().free_tags.push_back(token.tag);
}

// The token is complete. A byte too many makes an error of it: the program's wait returns
// MPI_ERR_TRUNCATE.
void complete(void* who, int code) {
  auto* const token = static_cast<Token*>(who);
  const char byte = 0;
  token->active = false;
  PMPI_Send(&byte, code == TONARI_SUCCESS ? 0 : 1, MPI_BYTE, 0, token->tag, tokens().self);
  wake_the_wait();
}

}  // namespace

int make_token(MPI_Comm comm, tonari_request exchange, std::uint64_t sent, MPI_Request* request) {
  Tokens& all = tokens();
  auto token = std::make_unique<Token>();
  token->exchange = exchange, token->bytes = sent, token->tag = take_tag();
  int rc = find_self(comm);
  if (rc == MPI_SUCCESS)
    rc = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, token->tag, all.self, &token->request);
  if (rc != MPI_SUCCESS) {
    free_exchange(*token);
    return rc;
  }
  *request = token->request;
  all.all.emplace(*request, std::move(token));
  return MPI_SUCCESS;
}

Token* token_of(MPI_Request request) {
  const auto& all = tokens().all;
  if (all.empty()) return nullptr;
  const auto found = all.find(request);
  return found == all.end() ? nullptr : found->second.get();
}

void start(Token& token) {
  const int code = [&] {
    const InTonari now;
    return tonari_start(token.exchange);
  }();
  if (code != TONARI_SUCCESS) return complete(&token, code);
  token.active = true;
  drive({token.exchange, complete, &token});
}

void release(Token& token) {
  if (token.active) PMPI_Wait(&token.request, MPI_STATUS_IGNORE);
  free_exchange(token);
  tokens().all.erase(token.request);
}

void free_tokens() {
  if (tokens().self != MPI_COMM_NULL) PMPI_Comm_free(&tokens().self);
}

std::uint64_t bytes_sent(const Token& token) { return token.bytes; }

}  // namespace tonari::preload
