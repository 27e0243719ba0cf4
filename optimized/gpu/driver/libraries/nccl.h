// NCCL, found at run time: communicators of the devices of one process. Errors are values with what
// was attempted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/gpu/driver/libraries/nccl_calls.h"

namespace assay::gpu {

class Nccl {
 public:
  // From `library`, or $ASSAY_LIBNCCL, or libnccl.so.2. Unavailable, with what is missing and how
  // to get it, where there is none.
  static absl::StatusOr<std::unique_ptr<Nccl>> Load(const std::string& library = "");
  const NcclCalls& calls() const { return calls_; }
  std::string version() const;  // "2.27.3"
  absl::Status Check(NcclResult result, std::string_view what) const;
  // Calls between the start and the end of a group; the group ends whichever of them fails.
  absl::Status InGroup(std::string_view what, const std::function<absl::Status()>& calls) const;

 private:
  Nccl() = default;

  NcclCalls calls_;
  int version_ = 0;
};

// The communicators of one program: one for each device of each clique. Threads of devices call
// into them side by side, and any thread may abort all.
class NcclCommunicators {
 public:
  // Numbers of devices, in the order of their ranks.
  using Clique = std::vector<int64_t>;

  // Makes those of each clique on the calling thread, all ranks together, so that none waits for
  // another. `enter` makes the context of a device current. `nccl` outlives them.
  static absl::StatusOr<std::unique_ptr<NcclCommunicators>> Make(
      const Nccl& nccl, const std::vector<Clique>& cliques,
      const std::function<absl::Status(int64_t device)>& enter);
  // Destroys what was not aborted. Nothing may be on a stream any more.
  ~NcclCommunicators();
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  const Nccl& nccl() const { return nccl_; }
  // Puts collectives on a device's stream, in a group. Cancelled once all were aborted.
  absl::Status Call(const Clique& clique, int64_t device, std::string_view what,
                    const std::function<absl::Status(NcclComm comm)>& calls);
  // The error that came to a communicator of the device while it worked.
  absl::Status AsyncError(int64_t device);
  // Ends whatever waits for a partner, on all devices. By any thread; what is on streams ends with
  // results that say nothing.
  void Abort();
  bool is_aborted() const { return is_aborted_; }

 private:
  struct Member {
    NcclComm comm = nullptr;
    // Held around calls: an abort waits a moment for a call that is about to return, and goes
    // ahead where one hangs.
    std::timed_mutex calling;
  };

  explicit NcclCommunicators(const Nccl& nccl) : nccl_(nccl) {}

  const Nccl& nccl_;
  std::map<std::pair<Clique, int64_t>, Member> members_;  // by device
  std::atomic<bool> is_aborted_{false};
};

}  // namespace assay::gpu
