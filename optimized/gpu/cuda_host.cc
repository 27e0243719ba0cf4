// A session per GPU of the process.
#include "optimized/gpu/cuda_host.h"

#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

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

CudaHostDevice::~CudaHostDevice() {
  // Handles and streams go in their context; of one that is lost nothing can be given back.
  if (session != nullptr) (void)session->Enter();
  libraries = DeviceLibraries();
}

absl::StatusOr<CudaHostDevice*> EnterDevice(CudaHost& host, size_t number) {
  std::unique_ptr<CudaHostDevice>& device = host.devices.at(number);
  if (device != nullptr) {
    ASSAY_RETURN_IF_ERROR(device->session->Enter());
    return device.get();
  }
  auto made = std::make_unique<CudaHostDevice>();
  ASSAY_ASSIGN_OR_RETURN(made->session, CudaSession::Open(*host.driver, static_cast<int>(number)));
  const CudaDeviceFacts& facts = made->session->facts();
  if (host.architecture != nullptr && facts.compute < ComputeOf(*host.architecture)) {
    return absl::UnavailableError(absl::StrCat("GPU ", number, " \"", facts.name, "\" is an sm_",
                                               facts.compute, " and cannot run what is compiled ",
                                               "for ", std::string(host.architecture->name),
                                               ", GPU 0"));
  }
  made->libraries = DeviceLibraries::Load();
  return (device = std::move(made)).get();
}

absl::StatusOr<std::shared_ptr<CudaHost>> OpenCudaHost() {
  const std::lock_guard<std::mutex> lock(opening);
  std::shared_ptr<CudaHost>& open = Open();
  if (open != nullptr) return open;
  auto host = std::make_shared<CudaHost>();
  ASSAY_ASSIGN_OR_RETURN(host->driver, CudaDriver::Load());
  host->devices.resize(static_cast<size_t>(host->device_count()));
  ASSAY_RETURN_IF_ERROR(EnterDevice(*host, 0).status());
  const CudaDeviceFacts& facts = host->first().session->facts();
  for (const Architecture& each : Architectures()) {
    if (ComputeOf(each) <= facts.compute) host->architecture = &each;
  }
  if (host->architecture == nullptr) {
    return absl::UnavailableError(absl::StrCat("the GPU \"", facts.name, "\" is an sm_",
                                               facts.compute, ", older than sm_80"));
  }
  absl::StatusOr<std::unique_ptr<Nccl>> nccl = Nccl::Load();
  if (nccl.ok()) {
    host->nccl = *std::move(nccl);
  } else {
    host->no_nccl = std::string(nccl.status().message());
  }
  return open = host;
}

}  // namespace assay::gpu
