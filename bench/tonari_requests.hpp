// Making tonari's requests for a workload.
#pragma once

#include <tonari/tonari.h>

#include <memory>
#include <string>

#include "candidate.hpp"

namespace bench {

// Throws tonari::Error with the library's sentence unless the code is success.
void check(int code);

// Info keys, freed at the end of the scope.
class Keys {
 public:
  Keys(std::initializer_list<std::pair<const char*, std::string>> values);
  ~Keys() { MPI_Info_free(&info_); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_;
};

tonari_neighborhood make_neighborhood(const Place& place);
tonari_request make_request(const Workload& work, tonari_neighborhood near, const Keys& keys);

// name: auto, an algorithm, algorithm/channel, algorithm/channel/view (blocks are read where they arrived), tonari-native, tonari-irecv.
std::unique_ptr<Candidate> make_tonari(const std::string& name, const Workload& work, tonari_neighborhood near, const std::string& tune);

}  // namespace bench
