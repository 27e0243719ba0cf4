// One session per process.
#include "optimized/gpu/cuda_host.h"

#include <charconv>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

// 90 of "sm_90".
int ComputeOf(const Architecture& architecture) {
  const std::string_view digits = architecture.name.substr(3);
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

namespace {
std::mutex opening;
std::shared_ptr<CudaHost>& Open() {
  static auto& open = *new std::shared_ptr<CudaHost>();
  return open;
}
}  // namespace

void ForgetCudaHost() {
  const std::lock_guard<std::mutex> lock(opening);
  Open() = nullptr;
}

absl::StatusOr<std::shared_ptr<CudaHost>> OpenCudaHost() {
  const std::lock_guard<std::mutex> lock(opening);
  std::shared_ptr<CudaHost>& open = Open();
  if (open != nullptr) return open;
  auto host = std::make_shared<CudaHost>();
  ASSAY_ASSIGN_OR_RETURN(host->driver, CudaDriver::Load());
  ASSAY_ASSIGN_OR_RETURN(host->session, CudaSession::Open(*host->driver, 0));
  const CudaDeviceFacts& facts = host->session->facts();
  for (const Architecture& each : Architectures()) {
    if (ComputeOf(each) <= facts.compute) host->architecture = &each;
  }
  if (host->architecture == nullptr) {
    return absl::UnavailableError(absl::StrCat("the GPU \"", facts.name, "\" is an sm_",
                                               facts.compute, ", older than sm_80"));
  }
  host->libraries = DeviceLibraries::Load();
  return open = host;
}

}  // namespace assay::gpu
