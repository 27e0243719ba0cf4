// Replica groups and shardings as HLO text. The reader is in spec/text. Document: hlo-format
// chapters 3.6 and 4.2.5.
#pragma once

#include <string>

#include "spec/attributes/sharding.h"

namespace assay {

void AppendReplicaGroups(std::string& out, const ReplicaGroups& groups);
// `metadata`: with the metadata of the sharding and of its elements.
void AppendSharding(std::string& out, const Sharding& sharding, bool metadata = true);

}  // namespace assay
