// The one call site of native/direct.
#include "optimized/cpu/native/optional_direct.h"

#include <string>
#include <utility>

#ifdef ASSAY_DIRECT
#include "optimized/cpu/native/direct/direct_code.h"
#endif

namespace assay {

#ifdef ASSAY_DIRECT

bool CanTranslateDirectly() { return direct::CanTranslate(); }

std::optional<DirectTranslation> TranslateDirectly(const llvm::Module& module, const char* entry,
                                                   const KernelBends& bends) {
  std::string why;
  std::unique_ptr<direct::DirectCode> code = direct::Translate(module, entry, why, bends);
  if (code == nullptr) return std::nullopt;
  void* const first = code->entry;
  const int64_t bytes = code->bytes;
  return DirectTranslation{std::shared_ptr<const direct::DirectCode>(std::move(code)), first,
                           bytes};
}

#else

bool CanTranslateDirectly() { return false; }

std::optional<DirectTranslation> TranslateDirectly(const llvm::Module&, const char*,
                                                   const KernelBends&) {
  return std::nullopt;
}

#endif

}  // namespace assay
