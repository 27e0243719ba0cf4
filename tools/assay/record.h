// Every verb that measures something appends its run to the result store at the end.
#pragma once

#include <string>

#include "reports/store.h"
#include "spec/base/clock.h"
#include "tools/assay/command_line.h"

namespace assay {

inline constexpr char kDefaultStore[] = "assay-out/assay.db";

struct RecordOptions {
  std::string path = kDefaultStore;
  bool off = false;

  void Declare(OptionList& line);
  // Says on standard error when the store cannot be written: a lost record is no lost verdict.
  void Save(const RunRow& run) const;
};

// The command line of this process as typed.
std::string CommandLine();

// With ranks=mpi, the processes that mpirun started do the same; the first of them alone says so
// and records it. True in the others.
bool IsSilentRank();

}  // namespace assay
