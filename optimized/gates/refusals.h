// Gates that a compilation refuses by their names, whatever its limit: how it is tried out that
// every decision has an alternative.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"

namespace assay {

class Refusals {
 public:
  // "native-gather+vectorize+library": rules of rule_names.h, and kinds of decisions, which stand
  // for all rules of the kind. "": none. Errors (invalid argument) name what was probably meant.
  static absl::StatusOr<Refusals> Parse(std::string_view text);

  bool Refuses(DecisionKind kind, std::string_view rule) const {
    return !names_.empty() && (names_.contains(rule) || names_.contains(Name(kind)));
  }

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace assay
