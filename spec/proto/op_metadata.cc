// The text of op metadata taken apart and put together.
#include "spec/proto/op_metadata.h"

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/annotation_text.h"

namespace assay {
namespace {

absl::StatusOr<proto::OpMetadata> MessageOf(const Instruction& instruction) {
  proto::OpMetadata message;
  const std::string& text = instruction.attributes().String(Attr::kMetadata);
  if (!text.empty()) ASSAY_RETURN_IF_ERROR(proto::ParseMetadata(text, &message));
  return message;
}

// Entry number `id`, from 1.
template <typename List>
auto Entry(const List& list, int64_t id) -> decltype(&list[0]) {
  return id < 1 || id > list.size() ? nullptr : &list[static_cast<int>(id) - 1];
}

}  // namespace

absl::StatusOr<OpMetadata> MetadataOf(const Instruction& instruction) {
  ASSAY_ASSIGN_OR_RETURN(const proto::OpMetadata message, MessageOf(instruction));
  OpMetadata metadata;
  metadata.op_type = message.op_type();
  metadata.op_name = message.op_name();
  metadata.source_file = message.source_file();
  metadata.deduplicated_name = message.deduplicated_name();
  metadata.scheduling_name = message.scheduling_name();
  metadata.source_line = message.source_line();
  metadata.source_end_line = message.source_end_line();
  metadata.source_column = message.source_column();
  metadata.source_end_column = message.source_end_column();
  metadata.stack_frame_id = message.stack_frame_id();
  return metadata;
}

absl::Status SetMetadata(Instruction& instruction, const OpMetadata& metadata) {
  ASSAY_ASSIGN_OR_RETURN(proto::OpMetadata message, MessageOf(instruction));
  message.set_op_type(metadata.op_type);
  message.set_op_name(metadata.op_name);
  message.set_source_file(metadata.source_file);
  message.set_deduplicated_name(metadata.deduplicated_name);
  message.set_scheduling_name(metadata.scheduling_name);
  message.set_source_line(metadata.source_line);
  message.set_source_end_line(metadata.source_end_line);
  message.set_source_column(metadata.source_column);
  message.set_source_end_column(metadata.source_end_column);
  message.set_stack_frame_id(metadata.stack_frame_id);
  std::string text = proto::MetadataText(message);
  if (text.empty()) {
    instruction.mutable_attributes().Remove(Attr::kMetadata);
  } else {
    instruction.mutable_attributes().Set(Attr::kMetadata, std::move(text));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SourceLocation>> CallStackOf(const Instruction& instruction) {
  ASSAY_ASSIGN_OR_RETURN(const proto::OpMetadata metadata, MessageOf(instruction));
  std::vector<SourceLocation> stack;
  if (metadata.stack_frame_id() == 0) return stack;
  proto::StackFrameIndexProto index;
  ASSAY_RETURN_IF_ERROR(
      proto::ParseStackTables(instruction.parent()->parent()->config().stack_tables, &index));
  for (int64_t id = metadata.stack_frame_id(); id != 0;) {
    if (static_cast<int64_t>(stack.size()) == index.stack_frames_size()) {
      return absl::InvalidArgumentError(
          StrCat(instruction.name(), ": stack frame ", id, " calls itself"));
    }
    const proto::StackFrameProto* frame = Entry(index.stack_frames(), id);
    const proto::FileLocationProto* place =
        frame == nullptr ? nullptr : Entry(index.file_locations(), frame->file_location_id());
    if (place == nullptr) {
      return absl::InvalidArgumentError(
          StrCat(instruction.name(), ": the module's tables have no ",
                 frame == nullptr ? "stack frame " : "place of frame ", id));
    }
    const std::string* file = Entry(index.file_names(), place->file_name_id());
    const std::string* function = Entry(index.function_names(), place->function_name_id());
    stack.push_back({file == nullptr ? "" : *file, function == nullptr ? "" : *function,
                     place->line(), place->end_line(), place->column(), place->end_column()});
    id = frame->parent_frame_id();
  }
  return stack;
}

}  // namespace assay
