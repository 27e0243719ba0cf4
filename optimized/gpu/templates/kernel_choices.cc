// Templates of kernels that have no nests: running values along lines, sorts, the best of lines.
#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/reductions.h"
#include "optimized/gpu/templates/template_plan.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

constexpr int kAccessBits = 128;
constexpr int64_t kWarp = 32, kBlock = 256;
// Shorter lines are done by a thread each.
constexpr int64_t kShortLine = 32, kShortSort = 16;
// Lines that are longer than this, and few, are cut for several blocks.
constexpr int64_t kLongLine = 4096, kManyLines = 256;
// Bytes of shared memory and places of a sort's tile, at most.
constexpr int64_t kTileBytes = 32 * 1024, kTilePlaces = 2048;

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }
int64_t PowerFrom(int64_t count) {
  int64_t power = 1;
  while (power < count) power *= 2;
  return power;
}

std::optional<TemplateChoice> Scan(const KernelPlan& kernel) {
  const Instruction& window = *kernel.instruction;
  const std::optional<CumulativeWindow> cumulative = RecogniseCumulative(window);
  if (!cumulative.has_value() || !CombinerOf(window).has_value()) return std::nullopt;
  const ElementType type = window.shape().element_type();
  const LineSizes sizes = LineSizes::Of(window, *cumulative);
  if (IsComplex(type) || sizes.along < kShortLine) return std::nullopt;
  TemplateChoice choice{.kind = KernelTemplate::kScan};
  if (sizes.inner > 1) {
    choice.team = std::min(kWarp, PowerFrom(sizes.inner));
    choice.part = sizes.along;
    choice.reason = StrCat(choice.team, " lines side by side, each of ", sizes.along, " in ",
                           choice.block_size / choice.team, " parts");
    return choice;
  }
  // Neighbours for each thread: 16 bytes at once where lines begin at multiples of that.
  int64_t each = std::max<int64_t>(4, kAccessBits / std::max(8, BitWidth(type)));
  if (sizes.along % each != 0) each = 4;
  choice.read_width = choice.write_width = sizes.along % each == 0 ? static_cast<int>(each) : 1;
  choice.block_size = std::min(kBlock, CeilOf(CeilOf(sizes.along, each), kWarp) * kWarp);
  choice.part = sizes.along;
  choice.reason = StrCat("a block for each line of ", sizes.along);
  if (sizes.along > kLongLine && sizes.outer < kManyLines) {
    choice.part = 4 * choice.block_size * each;
    choice.reason = StrCat("a block for every ", choice.part, " of lines of ", sizes.along);
  }
  return choice;
}

// The places that fit into shared memory, a power of two.
int64_t PlacesFor(int64_t bytes) {
  int64_t places = kTilePlaces;
  while (places * bytes > kTileBytes) places /= 2;
  return places;
}

std::optional<TemplateChoice> SortTiles(const KernelPlan& kernel) {
  const Instruction& sort = *kernel.instruction;
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dimension(sort.attributes().Integers(Attr::kDimension)[0]);
  if (length < kShortSort) return std::nullopt;
  int64_t bytes = 4;  // the place from which an element comes
  for (const Instruction* operand : sort.operands()) {
    if (IsComplex(operand->shape().element_type())) return std::nullopt;
    bytes += StorageBytes(operand->shape().element_type());
  }
  if (bytes > kTileBytes / kBlock) return std::nullopt;
  TemplateChoice choice{.kind = KernelTemplate::kSortTiles};
  const int64_t lines = shape.ElementCount() / length, padded = PowerFrom(length);
  choice.part = std::min(PlacesFor(bytes), PowerFrom(padded * lines));
  choice.block_size = std::clamp(choice.part / 2, kWarp, kBlock);
  choice.reason = padded > choice.part
                      ? StrCat("tiles of ", choice.part, " of lines of ", length, ", then merges")
                      : StrCat(choice.part / padded, " lines of ", length, " for each block");
  return choice;
}

std::optional<TemplateChoice> TopTiles(const KernelPlan& kernel) {
  const Instruction& top_k = *kernel.instruction;
  const Shape& shape = top_k.operand(0)->shape();
  const int64_t length = shape.dimension(shape.rank() - 1), padded = PowerFrom(length);
  const int64_t bytes = 4 + StorageBytes(shape.element_type());
  if (length < kShortSort || top_k.attributes().Integer(Attr::kK) == 0 ||
      padded > PlacesFor(bytes)) {
    return std::nullopt;
  }
  TemplateChoice choice{.kind = KernelTemplate::kTopTiles};
  const int64_t lines = shape.ElementCount() / length;
  choice.part = std::min(PlacesFor(bytes), PowerFrom(padded * lines));
  choice.block_size = std::clamp(choice.part / 2, kWarp, kBlock);
  choice.reason = StrCat(choice.part / padded, " lines of ", length, " for each block");
  return choice;
}

struct Row {
  KernelPlan::Form form;
  std::optional<Opcode> opcode;
  const char* rule;
  std::optional<TemplateChoice> (*choose)(const KernelPlan& kernel);
};
constexpr Row kRows[] = {
    {KernelPlan::Form::kCumulative, std::nullopt, "scan-blocks", Scan},
    {KernelPlan::Form::kNative, Opcode::kSort, "sort-tiles", SortTiles},
    {KernelPlan::Form::kNative, Opcode::kTopK, "sort-tiles", TopTiles},
};

}  // namespace

TemplateChoice ChooseForKernel(const KernelPlan& kernel, Gates& gates) {
  const Instruction& instruction = *kernel.instruction;
  for (const Row& row : kRows) {
    if (kernel.form != row.form ||
        instruction.opcode() != row.opcode.value_or(instruction.opcode()))
      continue;
    if (instruction.operand(0)->shape().ElementCount() == 0) continue;
    std::optional<TemplateChoice> choice = row.choose(kernel);
    if (!choice.has_value()) continue;
    const Permission permission = gates.Allow(DecisionKind::kKernel, row.rule, &instruction);
    if (!permission) continue;
    choice->bends = permission.bends();
    return *std::move(choice);
  }
  return {};
}

}  // namespace assay::gpu
