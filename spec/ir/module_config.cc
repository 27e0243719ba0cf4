// Copies of a module's config, layouts of the entry, bindings of dynamic dimensions.
#include "spec/ir/module_config.h"

#include "spec/base/strings.h"

namespace assay {
namespace {

Shape WithRowMajorLayouts(Shape shape) {
  for (Shape& element : shape.mutable_elements()) element = WithRowMajorLayouts(element);
  if (shape.IsArray()) shape.set_layout(Layout::RowMajor(shape.rank()));
  return shape;
}

}  // namespace

EntryLayout::EntryLayout(std::vector<Shape> parameter_shapes, Shape result_shape)
    : parameters(std::move(parameter_shapes)), result(std::move(result_shape)) {}

EntryLayout::EntryLayout(const ProgramShape& shape, bool ignore_layouts)
    : parameters(shape.parameters), result(shape.result) {
  if (!ignore_layouts) return;
  for (Shape& parameter : parameters) parameter = WithRowMajorLayouts(parameter);
  result = WithRowMajorLayouts(result);
}

ModuleConfig::ModuleConfig() = default;
ModuleConfig::~ModuleConfig() = default;
ModuleConfig::ModuleConfig(const ModuleConfig& other) { *this = other; }

ModuleConfig& ModuleConfig::operator=(const ModuleConfig& other) {
  if (this == &other) return *this;
  is_scheduled = other.is_scheduled;
  input_output_alias = other.input_output_alias;
  buffer_donors = other.buffer_donors;
  alias_passthrough_params = other.alias_passthrough_params;
  entry_layout =
      other.entry_layout == nullptr ? nullptr : std::make_unique<EntryLayout>(*other.entry_layout);
  replica_count = other.replica_count;
  num_partitions = other.num_partitions;
  verbatim = other.verbatim;
  stack_tables = other.stack_tables;
  debug_options = other.debug_options;
  seed = other.seed;
  return *this;
}

absl::Status DynamicParameterBinding::Bind(const DynamicParameter& size,
                                           const DynamicDimension& dimension) {
  if (GetBinding(dimension).has_value()) {
    return absl::AlreadyExistsError(StrCat("dimension ", dimension.dimension, " of parameter ",
                                           dimension.parameter_num, " is bound already"));
  }
  entries_.emplace_back(dimension, size);
  return absl::OkStatus();
}

std::optional<DynamicParameterBinding::DynamicParameter> DynamicParameterBinding::GetBinding(
    const DynamicDimension& dimension) const {
  for (const Entry& entry : entries_) {
    if (entry.first == dimension) return entry.second;
  }
  return std::nullopt;
}

}  // namespace assay
