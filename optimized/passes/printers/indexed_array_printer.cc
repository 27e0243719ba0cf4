// Logs the result of the analysis line by line.
#include "optimized/passes/printers/indexed_array_printer.h"

#include "optimized/analysis/indexed_array_analysis.h"
#include "spec/base/strings.h"

namespace assay {

absl::StatusOr<bool> IndexedArrayPrinter::Run(Module& module, PassContext& context) {
  constexpr int kLevel = 2;
  if (context.options.verbosity < kLevel || !context.options.log) return false;
  for (const Computation* computation : module.MakeNonfusionComputations()) {
    const IndexedArrayAnalysis analysis(*computation);
    for (const Instruction* inst : computation->PostOrder()) {
      const IndexedArrayAnalysis::Array& array = analysis.Of(inst);
      if (!array.IsIndexed()) continue;
      context.options.log(StrCat("%", inst->name(), " => ", IndexedArrayAnalysis::ToString(array)));
    }
  }
  return false;
}

}  // namespace assay
