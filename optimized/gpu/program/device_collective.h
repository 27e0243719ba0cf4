// Collectives among GPUs without the host: which ones NCCL has words for, and the calls that carry
// one out. All others go over the host, which copies their operands to itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/gates/gates.h"
#include "optimized/gpu/driver/libraries/nccl.h"
#include "optimized/runtime/collectives.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay::gpu {

// NCCL is told this of the elements. Arrays that only move go as bytes.
struct NcclForm {
  int type = kNcclUint8;
  int operation = kNcclSum;
  int64_t unit = 1;  // bytes of one of that type
};
// Nothing where NCCL has no word for it: reductions by other functions or on other types, or where
// the profile wants sums in the order of the group; partners that the data names; arrays in more
// pieces than are worth a call each. The greatest and least of floats are not among its words: it
// drops NaN.
// `why` says it then.
std::optional<NcclForm> NcclFormOf(const Instruction& collective, const CollectivePlan& plan,
                                   const Profile& profile, std::string& why);

// Decides about each collective of a program, for all its copies alike: devices that meet in one
// must go the same way.
class CollectiveChooser {
 public:
  // All outlive it.
  CollectiveChooser(const std::vector<CollectivePlan>& plans, const Profile& profile, Gates& gates)
      : plans_(plans), profile_(profile), gates_(gates) {}
  // Asks the gate "call-library".
  std::optional<NcclForm> Choose(const Instruction& collective);
  // Why one that was asked about goes over the host.
  const std::string& WhyNot(const Instruction& collective);

 private:
  const std::vector<CollectivePlan>& plans_;
  const Profile& profile_;
  Gates& gates_;
  std::map<int64_t, std::optional<NcclForm>> chosen_;  // by number
  std::map<int64_t, std::string> why_not_;
};

// The devices with which a device does the collective, in the order of their ranks: its group, or
// all where pairs are named.
NcclCommunicators::Clique CliqueOf(const CollectivePlan& plan, int64_t device);
// The cliques that need communicators, which are those of more than one device; each once.
std::vector<NcclCommunicators::Clique> CliquesOf(const CollectivePlan& plan);

// The arrays of a collective on one device: an address per operand and result.
struct CollectiveArrays {
  absl::Span<const uint64_t> operands, results;
  void* stream = nullptr;
  // On the stream: copies on the device, zeros; and memory of this collective's own.
  std::function<absl::Status(uint64_t to, uint64_t from, uint64_t bytes)> copy;
  std::function<absl::Status(uint64_t to, uint64_t bytes)> clear;
  std::function<absl::StatusOr<uint64_t>(uint64_t bytes)> workspace;
};
// Puts a device's part on its stream. All that meet in it must do so.
absl::Status PutCollective(NcclCommunicators& communicators, const CollectivePlan& plan,
                           const NcclForm& form, int64_t device, const CollectiveArrays& arrays);

}  // namespace assay::gpu
