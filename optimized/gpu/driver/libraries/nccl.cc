// Communicators are made and ended by one thread; between, a thread per device uses them.
#include "optimized/gpu/driver/libraries/nccl.h"

#include <dlfcn.h>

#include <chrono>
#include <utility>

#include "optimized/gpu/driver/libraries/device_library.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

const LibraryPlace& NcclPlace() {
  static const auto& place =
      *new LibraryPlace{"NCCL",
                        "ASSAY_LIBNCCL",
                        {"libnccl.so.2"},
                        "collectives go over the host instead",
                        "NVIDIA's packages for CUDA (Debian: libnccl2; PyPI: nvidia-nccl-cu13)"};
  return place;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Nccl>> Nccl::Load(const std::string& library) {
  ASSAY_ASSIGN_OR_RETURN(void* const opened, OpenLibrary(NcclPlace(), library));
  std::unique_ptr<Nccl> nccl(new Nccl());
  NcclCalls& calls = nccl->calls_;
#define ASSAY_NCCL_FIND(name, ...)                                                  \
  calls.name = reinterpret_cast<NcclResult (*)(__VA_ARGS__)>(dlsym(opened, #name)); \
  if (calls.name == nullptr) return LacksCall(NcclPlace(), #name);
  ASSAY_NCCL_CALLS(ASSAY_NCCL_FIND)
#undef ASSAY_NCCL_FIND
  calls.ncclGetErrorString =
      reinterpret_cast<const char* (*)(NcclResult)>(dlsym(opened, "ncclGetErrorString"));
  if (calls.ncclGetErrorString == nullptr) return LacksCall(NcclPlace(), "ncclGetErrorString");
  ASSAY_RETURN_IF_ERROR(nccl->Check(calls.ncclGetVersion(&nccl->version_), "its version"));
  return nccl;
}

std::string Nccl::version() const {
  // Two digits each behind the first number since 2.9.
  return StrCat(version_ / 10000, ".", version_ / 100 % 100, ".", version_ % 100);
}

absl::Status Nccl::Check(NcclResult result, std::string_view what) const {
  if (result == kNcclSuccess) return absl::OkStatus();
  const char* text = calls_.ncclGetErrorString(result);
  return absl::InternalError(
      StrCat("NCCL: ", what, ": ", text == nullptr ? "an error" : text, " (result ", result, ")"));
}

absl::Status Nccl::InGroup(std::string_view what,
                           const std::function<absl::Status()>& calls) const {
  ASSAY_RETURN_IF_ERROR(Check(calls_.ncclGroupStart(), StrCat("the group of ", what)));
  const absl::Status status = calls();
  const absl::Status ended = Check(calls_.ncclGroupEnd(), what);
  return status.ok() ? ended : status;
}

absl::StatusOr<std::unique_ptr<NcclCommunicators>> NcclCommunicators::Make(
    const Nccl& nccl, const std::vector<Clique>& cliques,
    const std::function<absl::Status(int64_t device)>& enter) {
  std::unique_ptr<NcclCommunicators> made(new NcclCommunicators(nccl));
  const NcclCalls& calls = nccl.calls();
  for (const Clique& clique : cliques) {
    NcclUniqueId id = {};
    absl::Status status = nccl.Check(calls.ncclGetUniqueId(&id), "a number for communicators");
    if (status.ok()) {
      status = nccl.InGroup("making communicators", [&]() -> absl::Status {
        for (size_t rank = 0; rank < clique.size(); ++rank) {
          ASSAY_RETURN_IF_ERROR(enter(clique[rank]));
          NcclComm& comm = made->members_[{clique, clique[rank]}].comm;
          ASSAY_RETURN_IF_ERROR(
              nccl.Check(calls.ncclCommInitRank(&comm, static_cast<int>(clique.size()), id,
                                                static_cast<int>(rank)),
                         StrCat("the communicator of device ", clique[rank])));
        }
        return absl::OkStatus();
      });
    }
    if (status.ok()) continue;
    made->Abort();
    return status;
  }
  return made;
}

NcclCommunicators::~NcclCommunicators() {
  // Nobody is left to be told of errors.
  for (auto& [key, member] : members_)
    if (member.comm != nullptr) (void)nccl_.calls().ncclCommDestroy(member.comm);
}

absl::Status NcclCommunicators::Call(const Clique& clique, int64_t device, std::string_view what,
                                     const std::function<absl::Status(NcclComm comm)>& calls) {
  const auto found = members_.find({clique, device});
  if (found == members_.end())
    return absl::InternalError(StrCat("NCCL: ", what, ": no communicator of device ", device));
  Member& member = found->second;
  const std::lock_guard<std::timed_mutex> lock(member.calling);
  if (is_aborted_) return absl::CancelledError(StrCat("NCCL: ", what, ": the run was stopped"));
  return nccl_.InGroup(what, [&] { return calls(member.comm); });
}

absl::Status NcclCommunicators::AsyncError(int64_t device) {
  for (auto& [key, member] : members_) {
    if (key.second != device) continue;
    const std::lock_guard<std::timed_mutex> lock(member.calling);
    if (is_aborted_) return absl::CancelledError("NCCL: the run was stopped");
    NcclResult error = kNcclSuccess;
    ASSAY_RETURN_IF_ERROR(nccl_.Check(nccl_.calls().ncclCommGetAsyncError(member.comm, &error),
                                      "asking a communicator for its error"));
    if (error == kNcclInProgress) continue;
    ASSAY_RETURN_IF_ERROR(nccl_.Check(error, StrCat("a communicator of device ", device)));
  }
  return absl::OkStatus();
}

void NcclCommunicators::Abort() {
  is_aborted_ = true;
  // First those in which no thread is: that frees many a call that hangs in another one.
  constexpr std::chrono::milliseconds kMoments[] = {std::chrono::milliseconds(0),
                                                    std::chrono::milliseconds(500)};
  for (const std::chrono::milliseconds moment : kMoments) {
    const bool is_last = moment.count() > 0;
    for (auto& [key, member] : members_) {
      const std::unique_lock<std::timed_mutex> lock(member.calling, moment);
      if (!lock.owns_lock() && !is_last) continue;
      NcclComm const comm = std::exchange(member.comm, nullptr);
      if (comm != nullptr) (void)nccl_.calls().ncclCommAbort(comm);
    }
  }
}

}  // namespace assay::gpu
