// Pieces of the writer, one per source file.
#pragma once

#include <string>

#include "spec/ir/module.h"
#include "spec/ops/op_table.h"
#include "spec/text/writer.h"

namespace assay::text_internal {

// ", name=value" for every attribute and callee of `instruction`, in print order. A sugared
// async-start has those of the instruction that it wraps, too.
void AppendAttributes(std::string& out, const Instruction& instruction, const WriteOptions& options,
                      const Instruction* wrapped = nullptr);
// The value alone; with the metadata of shardings or without.
void AppendAttributeValue(std::string& out, Attr attr, const AttrValue& value,
                          bool metadata = true);
// "{0,1}".
void AppendIntegers(std::string& out, absl::Span<const int64_t> values);
void AppendInteger(std::string& out, int64_t value);

}  // namespace assay::text_internal
