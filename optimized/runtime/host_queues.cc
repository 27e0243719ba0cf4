// Moves elements between the host's literals and the buffers of a program.
#include "optimized/runtime/host_queues.h"

#include <cstring>
#include <utility>

#include "optimized/runtime/rendezvous.h"
#include "optimized/runtime/run_context.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// Ends the run: loops see that their time is over.
void Reject(RunContext* context, std::string_view name, std::string_view why) {
  context->rendezvous->Fail(
      MakeError(ErrorClass::kRejected,
                StrCat(context->rendezvous->NameOf(context->device), ": ", name, ": ", why)));
  context->deadline = std::chrono::steady_clock::time_point::min();
}

// The elements of `bytes`, which are in the order of the shape's layout, row by row.
void FromPhysicalBytes(const uint8_t* bytes, const Shape& shape, uint8_t* to) {
  const DimVector strides = LayoutStrides(shape);
  const size_t width = StorageBytes(shape.element_type());
  DimVector index(shape.rank(), 0);
  if (shape.ElementCount() == 0) return;
  do {
    std::memcpy(to, bytes + static_cast<size_t>(LinearIndex(strides, index)) * width, width);
    to += width;
  } while (NextIndex(shape.dimensions(), absl::MakeSpan(index)));
}

void TakeItem(RunContext* context, const char* name, const Shape& shape, void* to) {
  const auto size = static_cast<size_t>(shape.ByteSize());
  std::memset(to, 0, size);
  std::deque<Literal>& queue = context->host->infeed;
  if (queue.empty()) {
    return Reject(context, name,
                  StrCat("the infeed queue of ", context->rendezvous->NameOf(context->device),
                         " is empty, a value of ", shape.ToString(), " is wanted"));
  }
  const Literal item = std::move(queue.front());
  queue.pop_front();
  if (Compatible(item.shape(), shape)) {
    if (size != 0) std::memcpy(to, item.bytes().data(), size);
  } else if (item.shape().IsArray() && item.element_type() == ElementType::kU8 &&
             item.shape().rank() == 1 && item.element_count() == shape.ByteSize()) {
    FromPhysicalBytes(item.bytes().data(), shape, static_cast<uint8_t*>(to));
  } else {
    Reject(context, name,
           StrCat("the next infeed item is ", item.shape().ToString(), ", the program takes ",
                  shape.ToString()));
  }
}

Literal ReadValue(const Shape& shape, const void* const*& leaves) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) elements.push_back(ReadValue(element, leaves));
    return Literal::Tuple(std::move(elements));
  }
  Literal value(shape);
  const void* from = *leaves++;
  if (!value.bytes().empty()) std::memcpy(value.bytes().data(), from, value.bytes().size());
  return value;
}

}  // namespace

void TakeInfeed(RunContext* context, const char* name, const char* shape, void* const* leaves) {
  const absl::StatusOr<Shape> read = ReadShape(shape);
  if (!read.ok()) return Reject(context, name, std::string(read.status().message()));
  ForEachLeaf(*read, [&](const Shape& leaf, absl::Span<const int64_t>) {
    TakeItem(context, name, leaf, *leaves++);
  });
}

void SendOutfeed(RunContext* context, const char* name, const char* shape,
                 const void* const* leaves) {
  const absl::StatusOr<Shape> read = ReadShape(shape);
  if (!read.ok()) return Reject(context, name, std::string(read.status().message()));
  context->host->outfeed.push_back(ReadValue(*read, leaves));
}

}  // namespace assay
