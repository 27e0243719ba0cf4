// Tokens, the host's queues, send and recv, asynchronous copies and computations. Documents:
// operation semantics chapters 15 (Infeed, Outfeed, Send, Recv), 15.2, 17; hlo-format 3.11.
#include "reference/devices/collectives.h"
#include "reference/devices/rejection.h"
#include "spec/base/status_macros.h"
#include "spec/text/reader.h"

namespace assay::reference {
namespace {

Value Token(Interpreter& interpreter) {
  return MakeValue(Array(Literal(Shape::Token())), interpreter.memory());
}

Value ZeroOf(Interpreter& interpreter, const Shape& shape) {
  return MakeValue(Literal(shape), interpreter.memory());
}

// after-all: a token.
absl::StatusOr<Value> ApplyToken(Interpreter& interpreter, const OpContext&) {
  return Token(interpreter);
}

// add-dependency: operand 0.
absl::StatusOr<Value> ApplyFirst(Interpreter&, const OpContext& op) { return *op.operands[0]; }

// copy-start: (copy, original, context); copy-done: the copy.
absl::StatusOr<Value> ApplyCopyStart(Interpreter& interpreter, const OpContext& op) {
  return Value::Tuple(
      {*op.operands[0], *op.operands[0], ZeroOf(interpreter, op.shape.elements()[2])});
}
absl::StatusOr<Value> ApplyCopyDone(Interpreter&, const OpContext& op) {
  return op.operands[0]->elements[0];
}

// ---- The host's queues.

// The array whose data, in the order of the layout of `shape`, are these elements of type u8.
Literal FromPhysicalBytes(const Literal& bytes, const Shape& shape) {
  Literal result(shape);
  const DimVector strides = LayoutStrides(shape);
  const size_t width = StorageBytes(shape.element_type());
  DimVector index(shape.rank(), 0);
  int64_t i = 0;
  if (result.element_count() == 0) return result;
  do {
    std::memcpy(result.bytes().data() + i++ * width,
                bytes.bytes().data() + LinearIndex(strides, index) * width, width);
  } while (NextIndex(shape.dimensions(), absl::MakeSpan(index)));
  return result;
}

// The next data of the infeed queue, an item for each array of `shape`.
absl::StatusOr<Value> TakeItem(Interpreter& interpreter, const OpContext& op, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Value> elements;
    for (const Shape& element : shape.elements()) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), TakeItem(interpreter, op, element));
    }
    return Value::Tuple(std::move(elements));
  }
  auto& queue = interpreter.device().infeed;
  if (queue.empty()) {
    return Rejected(op, "the infeed queue of ", interpreter.device().name(),
                    " is empty, a value of ", shape.ToString(), " is wanted");
  }
  Literal item = std::move(queue.front());
  queue.pop_front();
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  if (Compatible(item.shape(), shape)) {
    Literal value(shape);
    if (!value.bytes().empty())
      std::memcpy(value.bytes().data(), item.bytes().data(), value.bytes().size());
    return MakeValue(value, interpreter.memory());
  }
  if (item.element_type() == ElementType::kU8 && item.shape().rank() == 1 &&
      item.element_count() == shape.ByteSize()) {
    return MakeValue(FromPhysicalBytes(item, shape), interpreter.memory());
  }
  return Rejected(op, "the next infeed item is ", item.shape().ToString(), ", the program takes ",
                  shape.ToString());
}

absl::StatusOr<Value> ApplyInfeed(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
  ASSAY_ASSIGN_OR_RETURN(Value data, TakeItem(interpreter, op, op.shape.elements()[0]));
  return Value::Tuple({std::move(data), Token(interpreter)});
}

absl::StatusOr<Value> ApplyOutfeed(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
  interpreter.device().outfeed.push_back(*op.operands[0]);
  return Token(interpreter);
}

// ---- Channels.

constexpr std::string_view kPairsKey = "_xla_send_recv_source_target_pairs";

// The pairs of devices that use the channel of `op`, if the program names them.
absl::StatusOr<std::vector<Int64List>> Pairs(const OpContext& op) {
  const std::string* text =
      op.instruction.attributes().MapValue(Attr::kFrontendAttributes, kPairsKey);
  if (text == nullptr) return std::vector<Int64List>();
  const absl::StatusOr<ReplicaGroups> pairs = ReadReplicaGroups(*text);
  if (!pairs.ok() || pairs->form != ReplicaGroups::Form::kLists)
    return Rejected(op, kPairsKey, " is no list of pairs: ", *text);
  for (const Int64List& pair : pairs->lists) {
    if (pair.size() != 2) return Rejected(op, kPairsKey, " is no list of pairs: ", *text);
  }
  return pairs->lists;
}

// The channel at this end; nullptr for a device that the pairs leave out.
absl::StatusOr<std::shared_ptr<Channel>> ChannelOf(Interpreter& interpreter, const OpContext& op,
                                                   bool sends) {
  const Attributes& attributes = op.instruction.attributes();
  Device& device = interpreter.device();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Int64List> pairs, Pairs(op));
  std::string key = StrCat(attributes.Integer(Attr::kChannelId));
  if (!pairs.empty()) {
    bool found = false;
    for (const Int64List& pair : pairs) {
      if (pair[sends ? 0 : 1] != device.number()) continue;
      found = true;
      StrAppend(&key, ":", pair[0], "-", pair[1]);
    }
    if (!found) return std::shared_ptr<Channel>();
  }
  std::shared_ptr<Channel>& channel = device.mesh().channels[key];
  if (channel == nullptr) channel = std::make_shared<Channel>();
  int64_t& end = sends ? channel->sender : channel->receiver;
  if (end >= 0 && end != device.number()) {
    return Rejected(op, "channel ", attributes.Integer(Attr::kChannelId), " is used by ",
                    device.mesh().device(end).name(), " and ", device.name(),
                    "; say who sends to whom with the frontend attribute ", kPairsKey);
  }
  end = device.number();
  return channel;
}

// A transfer without another side to wait for, which ends with `taken`; `data` is in its context.
Value OverAtOnce(Interpreter& interpreter, const OpContext& op, Value data, Value taken) {
  Value context = ContextOf(interpreter, op.shape, {std::move(data)});
  context.pending = Ready(std::move(taken));
  return context;
}

// send: it is over when the other side has a buffer for the data.
absl::StatusOr<Value> ApplySend(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
  Value context, token = Token(interpreter);
  if (op.instruction.attributes().Flag(Attr::kIsHostTransfer)) {
    // The host takes what is sent and gives what is received by the queues of infeed and outfeed.
    interpreter.device().outfeed.push_back(*op.operands[0]);
    return OverAtOnce(interpreter, op, *op.operands[0], token);
  }
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Channel> channel, ChannelOf(interpreter, op, true));
  if (channel == nullptr) return OverAtOnce(interpreter, op, *op.operands[0], token);
  const int64_t number = channel->sends++,
                id = op.instruction.attributes().Integer(Attr::kChannelId);
  channel->sent.push_back(*op.operands[0]);
  context.pending = std::make_shared<const Pending>(Pending{
      [channel, number] { return channel->recvs > number; },
      [id] { return StrCat("for a recv on channel ", id); }, [token] { return token; },
      [&interpreter, &shape = op.instruction.shape(), sent = *op.operands[0]](const Value&) {
        return ContextOf(interpreter, shape, {sent});
      }});
  return context;
}

absl::StatusOr<Value> ApplyRecv(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
  const Shape& shape = op.shape.elements()[0];
  Value context, token = Token(interpreter);
  if (op.instruction.attributes().Flag(Attr::kIsHostTransfer)) {
    ASSAY_ASSIGN_OR_RETURN(Value data, TakeItem(interpreter, op, shape));
    return OverAtOnce(interpreter, op, data, Value::Tuple({data, token}));
  }
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Channel> channel, ChannelOf(interpreter, op, false));
  if (channel == nullptr) {
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
    const Value zero = ZeroOf(interpreter, shape);
    return OverAtOnce(interpreter, op, zero, Value::Tuple({zero, token}));
  }
  const int64_t number = channel->recvs++,
                id = op.instruction.attributes().Integer(Attr::kChannelId);
  context.pending = std::make_shared<const Pending>(
      Pending{[channel, number] { return channel->sends > number; },
              [id] { return StrCat("for a send on channel ", id); },
              [channel, token] {
                Value data = std::move(channel->sent.front());
                channel->sent.pop_front();
                return Value::Tuple({std::move(data), token});
              },
              [&interpreter, &context_shape = op.instruction.shape()](const Value& taken) {
                return ContextOf(interpreter, context_shape, {taken.elements[0]});
              }});
  return context;
}

// ---- Asynchronous computations, which run as soon as all arguments are there.

absl::StatusOr<Value> StartOrWait(Interpreter& interpreter, const OpContext& op,
                                  std::vector<Value> arguments, const Computation& computation) {
  Value result;
  if (static_cast<int64_t>(arguments.size()) == computation.parameter_count()) {
    ASSAY_ASSIGN_OR_RETURN(result, interpreter.Run(computation, arguments));
  }
  std::vector<Value> elements = {Value::Tuple(std::move(arguments)), std::move(result)};
  for (size_t i = 2; i < op.shape.elements().size(); ++i)
    elements.push_back(ZeroOf(interpreter, op.shape.elements()[i]));
  return Value::Tuple(std::move(elements));
}

// The async-start that an update or done belongs to; nullptr when it came through other ops.
const Instruction* StartOf(const Instruction& instruction) {
  const Instruction* at = &instruction;
  while (at->opcode() == Opcode::kAsyncUpdate || at->opcode() == Opcode::kAsyncDone)
    at = at->operand(0);
  return at->opcode() == Opcode::kAsyncStart ? at : nullptr;
}

absl::StatusOr<Value> ApplyAsyncStart(Interpreter& interpreter, const OpContext& op) {
  std::vector<Value> arguments;
  for (const Value* operand : op.operands) arguments.push_back(*operand);
  return StartOrWait(interpreter, op, std::move(arguments), *op.instruction.callee());
}

absl::StatusOr<Value> ApplyAsyncUpdate(Interpreter& interpreter, const OpContext& op) {
  if (op.operands.size() == 1) return *op.operands[0];
  const Instruction* start = StartOf(op.instruction);
  if (start == nullptr) return Rejected(op, "its async-start is in another computation");
  std::vector<Value> arguments = op.operands[0]->elements[0].elements;
  for (size_t i = 1; i < op.operands.size(); ++i) arguments.push_back(*op.operands[i]);
  return StartOrWait(interpreter, op, std::move(arguments), *start->callee());
}

// Ends here all that its computation has begun and not ended, such as the sends and receives of a
// group: XLA's contexts then hold the data that went over.
absl::StatusOr<Value> ApplyAsyncDone(Interpreter& interpreter, const OpContext& op) {
  const Value& result = op.operands[0]->elements[1];
  if (result.pending == nullptr && result.IsTuple() != op.shape.IsTuple())
    return Rejected(op, "its computation has not been given all arguments");
  return EndPending(interpreter, op, result);
}

}  // namespace

absl::Span<const OpEvaluation> TransferEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kAfterAll, .apply = ApplyToken},
      {.opcode = Opcode::kAddDependency, .apply = ApplyFirst},
      {.opcode = Opcode::kCopyStart, .apply = ApplyCopyStart},
      {.opcode = Opcode::kCopyDone, .apply = ApplyCopyDone},
      {.opcode = Opcode::kInfeed, .apply = ApplyInfeed},
      {.opcode = Opcode::kOutfeed, .apply = ApplyOutfeed},
      {.opcode = Opcode::kSend, .apply = ApplySend},
      {.opcode = Opcode::kSendDone, .apply = ApplyDone},
      {.opcode = Opcode::kRecv, .apply = ApplyRecv},
      {.opcode = Opcode::kRecvDone, .apply = ApplyDone},
      {.opcode = Opcode::kAsyncStart, .apply = ApplyAsyncStart},
      {.opcode = Opcode::kAsyncUpdate, .apply = ApplyAsyncUpdate},
      {.opcode = Opcode::kAsyncDone, .apply = ApplyAsyncDone},
  };
  return kRows;
}

}  // namespace assay::reference
