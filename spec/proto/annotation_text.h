// Attributes that modules keep as text (shardings, metadata, replica groups, ...) and their
// messages. Document: hlo-format 3.4 to 3.7, 4.1, 4.2.5; hlo-proto chapters 5 and 6. The parsed
// text stands in a module, so errors name it and say what it should be.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/attributes/attributes.h"
#include "spec/attributes/sharding.h"
#include "spec/proto/hlo.pb.h"
#include "spec/types/shape.h"

namespace assay::proto {

absl::Status ShardingToProto(const Sharding& sharding, OpSharding* proto);
absl::StatusOr<Sharding> ShardingFromProto(const OpSharding& proto);
// Groups go into the field that their form has.
absl::Status ReplicaGroupsToProto(const ReplicaGroups& groups, HloInstructionProto* proto);
absl::StatusOr<ReplicaGroups> ReplicaGroupsFromProto(const HloInstructionProto& proto);

absl::Status ParseMetadata(std::string_view text, OpMetadata* proto);
std::string MetadataText(const OpMetadata& proto);  // "" when XLA would print none

absl::Status ParseFrontendAttributes(std::string_view text, FrontendAttributes* proto);
std::string FrontendAttributesText(const FrontendAttributes& proto);
StringMap FrontendAttributesMap(const FrontendAttributes& proto);

absl::Status ParseStatistics(std::string_view text, StatisticsViz* proto);
std::string StatisticsText(const StatisticsViz& proto);

absl::Status ParseResultAccuracy(std::string_view text, ResultAccuracy* proto);
std::string ResultAccuracyText(const ResultAccuracy& proto);

absl::Status ParseOrigin(std::string_view text, OriginalValueProto* proto);
// `shape` gives the tree in which the leaves stand.
std::string OriginText(const OriginalValueProto& proto, const Shape& shape);

absl::Status ParseSparsity(std::string_view text, SparsityConfig* proto);
std::string SparsityText(const SparsityConfig& proto);

absl::Status ParseStackTables(std::string_view text, StackFrameIndexProto* proto);
std::string StackTablesText(const StackFrameIndexProto& proto);

}  // namespace assay::proto
