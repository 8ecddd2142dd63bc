// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests of tonari in the hands of a program that knows only its MPI's. The program
// gets a token: a receive of no bytes from the rank itself, which the MPI starts, and every call
// that completes requests completes. When tonari's exchange is over, the message is sent that the
// token waits for.
#pragma once

#include <mpi.h>
#include <tonari/tonari.h>

#include <cstdint>

namespace tonari::preload {

// A token for an exchange on `comm`, which it owns from now on; sent: bytes of this rank in each
// start. Local. Returns MPI's error code.
int make_token(MPI_Comm comm, tonari_request exchange, std::uint64_t sent, MPI_Request* request);

// Where sessions run without MPI_COMM_SELF: frees what tokens have in its place.
void free_tokens();

struct Token;
// Returns the token of a request; null if it is the MPI's own.
Token* token_of(MPI_Request request);
// The token's receive was started; now its exchange starts.
void start(Token& token);
// Is called before the MPI frees the request.
void release(Token& token);

std::uint64_t bytes_sent(const Token& token);

}  // namespace tonari::preload
