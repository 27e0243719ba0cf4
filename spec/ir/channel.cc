// Factories of send and receive. Document: operation semantics chapter 15 (Send, Recv).
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

absl::Status CheckToken(std::string_view what, const Instruction* token) {
  if (token->shape().IsToken()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(what, ": ", token->name(), " is ", token->shape().ToString(), ", want a token"));
}

// (data, u32[], token[]), the context that send and recv give to their -done.
Shape ContextShape(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

absl::Status CheckContext(std::string_view what, const Instruction* context, Opcode producer) {
  if (context->opcode() == producer) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, ": ", context->name(), " is a ",
                                           Name(context->opcode()), ", want a ", Name(producer)));
}

Attributes ChannelAttributes(int64_t channel_id, bool is_host_transfer) {
  Attributes attributes;
  if (channel_id != 0) attributes.Set(Attr::kChannelId, AttrValue(channel_id));
  if (is_host_transfer) attributes.Set(Attr::kIsHostTransfer, AttrValue(true));
  return attributes;
}

absl::StatusOr<Instruction*> Add(Opcode opcode, Shape shape,
                                 std::initializer_list<Instruction*> operands,
                                 Attributes attributes) {
  Computation& computation = *(*operands.begin())->parent();
  auto span = absl::MakeConstSpan(operands.begin(), operands.size());
  if (Info(opcode).IsDefined()) {
    return computation.AddInferred(opcode, span, std::move(attributes), {}, &shape);
  }
  return computation.Add(opcode, std::move(shape), span, std::move(attributes));
}

}  // namespace

absl::StatusOr<Instruction*> Instruction::CreateSend(Instruction* operand, Instruction* token,
                                                     int64_t channel_id, bool is_host_transfer) {
  ASSAY_RETURN_IF_ERROR(CheckToken("send", token));
  return Add(Opcode::kSend, ContextShape(operand->shape()), {operand, token},
             ChannelAttributes(channel_id, is_host_transfer));
}

absl::StatusOr<Instruction*> Instruction::CreateSendDone(Instruction* send, bool is_host_transfer) {
  ASSAY_RETURN_IF_ERROR(CheckContext("send-done", send, Opcode::kSend));
  return Add(Opcode::kSendDone, Shape::Token(), {send},
             ChannelAttributes(send->attributes().Integer(Attr::kChannelId), is_host_transfer));
}

absl::StatusOr<Instruction*> Instruction::CreateRecv(const Shape& shape, Instruction* token,
                                                     int64_t channel_id, bool is_host_transfer) {
  ASSAY_RETURN_IF_ERROR(CheckToken("recv", token));
  return Add(Opcode::kRecv, ContextShape(shape), {token},
             ChannelAttributes(channel_id, is_host_transfer));
}

absl::StatusOr<Instruction*> Instruction::CreateRecvDone(Instruction* recv, bool is_host_transfer) {
  ASSAY_RETURN_IF_ERROR(CheckContext("recv-done", recv, Opcode::kRecv));
  const std::vector<Shape>& elements = recv->shape().elements();
  if (elements.empty()) {
    return absl::InvalidArgumentError(
        StrCat("recv-done: ", recv->name(), " has the shape ", recv->shape().ToString()));
  }
  return Add(Opcode::kRecvDone, Shape::Tuple({elements[0], Shape::Token()}), {recv},
             ChannelAttributes(recv->attributes().Integer(Attr::kChannelId), is_host_transfer));
}

}  // namespace assay
