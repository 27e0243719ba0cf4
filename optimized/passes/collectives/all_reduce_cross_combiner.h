// A sum over the partitions of a replica, perhaps with something added, and then a sum over the
// replicas: one sum over all cores. The number that is added is divided by the number of partitions
// first, as every partition brings it. Document: optimization passes, All reduce cross combiner.
//
// Partitions come in two forms. SPMD: the module is what every partition runs, and an all-reduce
// over partitions stands for all of them. MPMD: the module holds the code of every partition, and
// as many all-reduces share a channel, each on a device of its own. Both are taken; the all-reduces
// of a channel are rewritten all or none, and a channel that is neither form is left alone.
//
// Nothing is assumed: what is added must be the same on every partition for a visible reason, and
// of a float type it must be divided by a power of two, which is exact. Sums of floats are rounded
// in another order then, which no clause of a profile grants for a sum of sums: they need
// PassOptions::fast_math. Sums of integers do not.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AllReduceCrossCombiner : public Pass {
 public:
  std::string_view name() const override { return "all-reduce-cross-combiner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
