// Answers what follows from a target's data.
#include "optimized/target/target.h"

#include <algorithm>

namespace assay {

int64_t Target::Workers(std::string_view level) const {
  for (const ParallelLevel& each : levels) {
    if (each.name == level) return each.workers;
  }
  return 1;
}

int Target::VectorWidth(ElementType type) const {
  if (register_bits == 0 || IsComplex(type)) return 1;
  return std::max(1, vector_bits / std::max(8, BitWidth(type)));
}

}  // namespace assay
