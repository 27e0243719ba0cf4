// The data of a module beside its computations: layouts of the entry, aliases, devices, options,
// shardings, bindings. Document: hlo-format chapter 1.2; HloModule document (HloModuleConfig and
// the module's fields).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/attributes/attributes.h"
#include "spec/types/shape.h"

namespace assay {

using ShapeIndex = Int64List;  // path into a tuple shape

struct InputOutputAlias {
  Int64List output_index;
  int64_t parameter = 0;
  Int64List parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};
using InputOutputAliasConfig = std::vector<InputOutputAlias>;
struct BufferDonor {
  int64_t parameter = 0;
  Int64List parameter_index;
  bool operator==(const BufferDonor&) const = default;
};

// Shapes of a computation's parameters, in order, and of its result.
struct ProgramShape {
  std::vector<Shape> parameters;
  Shape result;
  bool operator==(const ProgramShape&) const = default;
};
// Shapes of the entry's parameters and result with the layouts that the caller sees.
struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
  bool operator==(const EntryLayout&) const = default;

  EntryLayout() = default;
  EntryLayout(std::vector<Shape> parameter_shapes, Shape result_shape);
  // `ignore_layouts` replaces every layout by the row-major one.
  EntryLayout(const ProgramShape& shape, bool ignore_layouts);
};

// Flags by name. Passes and dumps read them; the numeric meaning of a module does not depend on
// any.
struct DebugOptions {
  std::map<std::string, std::string> flags;
  bool operator==(const DebugOptions&) const = default;
};
// Options that the caller of a compilation decides. Functions that take a pointer to them use these
// defaults for nullptr.
struct ExecutionOptions {
  std::optional<Shape> shape_with_output_layout;
  DebugOptions debug_options;
  uint64_t seed = 0;
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  bool alias_passthrough_params = false;
};

struct ModuleConfig {
  bool is_scheduled =
      false;  // stored instruction order is the schedule of every non-fusion computation
  InputOutputAliasConfig input_output_alias;
  std::vector<BufferDonor> buffer_donors;
  bool alias_passthrough_params = false;
  std::unique_ptr<EntryLayout> entry_layout;  // nullptr: as the entry's parameters and root
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  // Kept as written: (attribute name, text of the value), and the stack frame tables between header
  // and computations.
  std::vector<std::pair<std::string, std::string>> verbatim;
  std::string stack_tables;
  DebugOptions debug_options;
  uint64_t seed = 0;

  ModuleConfig();
  ModuleConfig(const ModuleConfig& other);
  ModuleConfig& operator=(const ModuleConfig& other);
  ~ModuleConfig();
};

// Tells which parameter holds the run-time size of which dynamic dimension of a parameter.
class DynamicParameterBinding {
 public:
  struct DynamicParameter {  // a scalar s32 leaf
    int64_t parameter_num = 0;
    ShapeIndex parameter_index;
    bool operator==(const DynamicParameter&) const = default;
  };
  struct DynamicDimension {
    int64_t parameter_num = 0;
    ShapeIndex parameter_index;
    int64_t dimension = 0;
    bool operator==(const DynamicDimension&) const = default;
  };
  using Entry = std::pair<DynamicDimension, DynamicParameter>;

  // An error if the dimension is bound already.
  absl::Status Bind(const DynamicParameter& size, const DynamicDimension& dimension);
  std::optional<DynamicParameter> GetBinding(const DynamicDimension& dimension) const;
  absl::Span<const Entry> entries() const { return entries_; }  // in the order of binding
  bool operator==(const DynamicParameterBinding&) const = default;

 private:
  std::vector<Entry> entries_;
};

// Parts of a module that only its binary form carries (hlo-format 1.2).
struct ModuleAnnotations {
  DynamicParameterBinding dynamic_parameter_binding;
  std::optional<std::vector<Sharding>> spmd_parameters_shardings;
  std::optional<Sharding> spmd_output_sharding;
  std::vector<std::pair<int64_t, ShapeIndex>> cross_program_prefetches;
  // Fields of the binary form that have no meaning here (profiles, device assignment, ...), as they
  // were read; written back unchanged.
  std::string unread_fields;
  bool operator==(const ModuleAnnotations&) const = default;
};

}  // namespace assay
