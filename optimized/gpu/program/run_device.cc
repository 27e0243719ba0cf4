// The two kinds of devices.
#include "optimized/gpu/program/run_device.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

class SimulatedDevice : public RunDevice {
 public:
  SimulatedDevice(Simulator& simulator, uint64_t memory_limit)
      : simulator_(simulator), memory_(memory_limit) {}

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view name) override {
    return memory_.Allocate(bytes, 256, name);
  }
  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) override {
    return memory_.CopyIn(address, bytes);
  }
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) override {
    // Without checks nobody notes what kernels write.
    return simulator_.options().checks ? memory_.CopyOut(address, bytes)
                                       : memory_.CopyOutAnyway(address, bytes);
  }
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    return memory_.CopyWithin(to, from, bytes);
  }
  absl::Status Forget(uint64_t address, uint64_t bytes) override {
    return simulator_.options().checks ? memory_.Forget(address, bytes) : absl::OkStatus();
  }
  absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments) override {
    return simulator_.Launch(kernel, shape, arguments, memory_);
  }
  uint64_t bytes_in_use() const override { return memory_.bytes_in_use(); }

 private:
  Simulator& simulator_;
  DeviceMemory memory_;
};

class CudaRunDevice : public RunDevice {
 public:
  CudaRunDevice(CudaSession& session, const CublasLt* cublas, CudaModule module,
                const KernelImage& image)
      : session_(session), cublas_(cublas), module_(std::move(module)), image_(image) {}

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view) override {
    ASSAY_ASSIGN_OR_RETURN(CudaBuffer made, session_.Allocate(bytes));
    bytes_in_use_ += bytes;
    buffers_.push_back(std::move(made));
    return buffers_.back().address();
  }
  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) override {
    return session_.CopyIn(address, bytes);
  }
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) override {
    return session_.CopyOut(address, bytes);
  }
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    return session_.CopyWithin(to, from, bytes);
  }
  absl::Status Forget(uint64_t, uint64_t) override { return absl::OkStatus(); }
  absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments) override {
    CudaHandle& function = functions_[kernel.name()];
    if (function == nullptr) {
      const auto name = image_.names.find(kernel.name());
      if (name == image_.names.end()) {
        return absl::InternalError(absl::StrCat("kernel \"", kernel.name(), "\" is in no image"));
      }
      ASSAY_ASSIGN_OR_RETURN(function, session_.Function(module_, name->second));
    }
    std::vector<uint64_t> values;
    for (const KernelArgument& argument : arguments) values.push_back(argument.bits);
    return session_.Launch(function, {.grid = shape.grid,
                                      .block = shape.block,
                                      .dynamic_shared_bytes = shape.dynamic_shared_bytes,
                                      .arguments = values});
  }
  absl::StatusOr<bool> CallLibrary(const Instruction& instruction,
                                   absl::Span<const uint64_t> operands, uint64_t result) override {
    if (cublas_ == nullptr) return false;
    ASSAY_ASSIGN_OR_RETURN(const LibraryCall call, ReadLibraryCall(instruction));
    if (!CublasLt::Takes(instruction, call)) return false;
    const auto at = [&](int64_t k) {
      return k < 0 ? uint64_t{0} : operands[static_cast<size_t>(k)];
    };
    ASSAY_RETURN_IF_ERROR(cublas_->Multiply(instruction, call,
                                            {at(0), at(1), at(call.addend), at(call.bias), result},
                                            session_.stream()));
    return true;
  }
  uint64_t bytes_in_use() const override { return bytes_in_use_; }

 private:
  CudaSession& session_;
  const CublasLt* cublas_;
  CudaModule module_;
  const KernelImage& image_;
  std::vector<CudaBuffer> buffers_;
  std::map<std::string, CudaHandle> functions_;
  uint64_t bytes_in_use_ = 0;
};

}  // namespace

std::unique_ptr<RunDevice> MakeSimulatedDevice(Simulator& simulator, uint64_t memory_limit) {
  return std::make_unique<SimulatedDevice>(simulator, memory_limit);
}

absl::StatusOr<std::unique_ptr<RunDevice>> MakeCudaDevice(CudaSession& session,
                                                          const CublasLt* cublas,
                                                          const KernelImage& image) {
  ASSAY_ASSIGN_OR_RETURN(CudaModule module, session.Load(image.text));
  return std::make_unique<CudaRunDevice>(session, cublas, std::move(module), image);
}

}  // namespace assay::gpu
