// Tells which element types have a C++ type to compute with.
#include "spec/types/native.h"

namespace assay {

bool IsComputed(ElementType type) {
  return DispatchComputed(type, [](auto) {});
}

}  // namespace assay
