// Records the ops of the builder.
#pragma once

#include "spec/base/strings.h"
#include "spec/builder/xla_builder.h"

namespace assay {

// The first error stays, with the op's name in front; after it nothing is added.
template <typename F>
XlaOp XlaBuilder::Record(std::string_view what, const F& make) {
  if (!error_.ok()) return XlaOp(this, nullptr);
  Result made = make();
  if (!made.ok()) {
    const std::string message(made.status().message());
    const bool named = message.rfind(StrCat(what, ":"), 0) == 0;
    error_ = absl::Status(made.status().code(), named ? message : StrCat(what, ": ", message));
    return XlaOp(this, nullptr);
  }
  last_ = *made;
  return XlaOp(this, *made);
}

}  // namespace assay
