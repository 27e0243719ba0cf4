// Defaults of attributes by kind.
#include "spec/ops/attribute_defaults.h"

#include <algorithm>

namespace assay {

bool IsDefaultValue(const AttrSpec& spec, AttrKind kind, const AttrValue& value) {
  switch (kind) {
    case AttrKind::kFlag:
      return static_cast<int64_t>(std::get<bool>(value)) == spec.default_value;
    case AttrKind::kInteger:
    case AttrKind::kWord:
      return std::get<int64_t>(value) == spec.default_value;
    case AttrKind::kIntegers:
    case AttrKind::kFlags:
      return std::get<Int64List>(value).empty();
    case AttrKind::kWords: {
      const auto& list = std::get<Int64List>(value);
      return std::all_of(list.begin(), list.end(), [](int64_t word) { return word == 0; });
    }
    case AttrKind::kIntegerLists:
      return std::get<std::vector<Int64List>>(value).empty();
    case AttrKind::kWindow:
      return std::get<std::vector<WindowDim>>(value).empty();
    case AttrKind::kAliasing:
      return std::get<std::vector<OutputAlias>>(value).empty();
    case AttrKind::kString:
    case AttrKind::kBlob:
      return std::get<std::string>(value).empty();
    default:
      return false;
  }
}

AttrValue DefaultValue(const AttrSpec& spec, AttrKind kind) {
  switch (kind) {
    case AttrKind::kFlag:
      return AttrValue(spec.default_value != 0);
    case AttrKind::kInteger:
    case AttrKind::kWord:
      return AttrValue(spec.default_value);
    case AttrKind::kFloat:
      return AttrValue(static_cast<double>(spec.default_value));
    case AttrKind::kIntegerLists:
      return AttrValue(std::vector<Int64List>());
    case AttrKind::kSliceRanges:
      return AttrValue(std::vector<SliceRange>());
    case AttrKind::kPadding:
      return AttrValue(std::vector<PaddingDim>());
    case AttrKind::kWindow:
      return AttrValue(std::vector<WindowDim>());
    case AttrKind::kAliasing:
      return AttrValue(std::vector<OutputAlias>());
    case AttrKind::kDimLabels:
      return AttrValue(SharedValue<ConvDimLabels>());
    case AttrKind::kString:
    case AttrKind::kBlob:
      return AttrValue(std::string());
    case AttrKind::kVerbatim:
      return AttrValue(std::string("{}"));
    case AttrKind::kShape:
      return AttrValue(SharedValue<Shape>());
    case AttrKind::kShapes:
      return AttrValue(SharedValue<std::vector<Shape>>());
    case AttrKind::kReplicaGroups:
      return AttrValue(SharedValue<ReplicaGroups>());
    case AttrKind::kSharding:
      return AttrValue(SharedValue<Sharding>());
    case AttrKind::kDomainMetadata:
      return AttrValue(SharedValue<DomainMetadata>());
    case AttrKind::kStringMap:
      return AttrValue(StringMap());
    case AttrKind::kIntegers:
    case AttrKind::kOneInteger:
    case AttrKind::kFlags:
    case AttrKind::kWords:
      return AttrValue(Int64List());
  }
  return AttrValue(false);
}

}  // namespace assay
