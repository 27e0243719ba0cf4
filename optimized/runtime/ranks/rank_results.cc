// Bytes of arrays in the order of their leaves; shapes as text where the reader does not know them.
#include "optimized/runtime/ranks/rank_results.h"

#include <cstring>
#include <utility>

#include "spec/base/status_macros.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

void AppendNumber(std::string& to, uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AppendBytes(std::string& to, const Literal& value) {
  for (const Literal& element : value.elements()) AppendBytes(to, element);
  if (!value.shape().IsArray()) return;
  to.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
}

// Reads a string from its front, and notes whether it was long enough.
class Packed {
 public:
  explicit Packed(std::string_view bytes) : bytes_(bytes) {}

  void Take(void* to, size_t count) {
    if (count > bytes_.size()) is_short_ = true;
    if (is_short_ || count == 0) return;
    std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }
  uint64_t Number() {
    uint64_t number = 0;
    Take(&number, sizeof number);
    return number;
  }
  std::string Text() {
    const uint64_t count = Number();
    if (count > bytes_.size()) is_short_ = true;
    if (is_short_) return "";
    std::string text(bytes_.substr(0, count));
    bytes_.remove_prefix(count);
    return text;
  }
  void Value(Literal& value) {
    for (Literal& element : value.mutable_elements()) Value(element);
    if (value.shape().IsArray()) Take(value.bytes().data(), value.bytes().size());
  }
  absl::Status status() const {
    return is_short_ ? absl::DataLossError("a rank's results are cut off") : absl::OkStatus();
  }

 private:
  std::string_view bytes_;
  bool is_short_ = false;
};

}  // namespace

std::string PackResults(const Literal& result, const HostQueues& host, const RunContext& context) {
  std::string packed;
  for (uint64_t word : context.random_state) AppendNumber(packed, word);
  AppendBytes(packed, result);
  AppendNumber(packed, host.outfeed.size());
  for (const Literal& item : host.outfeed) {
    const std::string shape = item.shape().ToString();
    AppendNumber(packed, shape.size());
    packed += shape;
    AppendBytes(packed, item);
  }
  return packed;
}

absl::Status UnpackResults(std::string_view packed, Literal& result, HostQueues& host,
                           RunContext& context) {
  Packed rest(packed);
  for (uint64_t& word : context.random_state) word = rest.Number();
  rest.Value(result);
  const uint64_t items = rest.Number();
  for (uint64_t k = 0; k < items && rest.status().ok(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, ReadShape(rest.Text()));
    Literal& item = host.outfeed.emplace_back(shape);
    rest.Value(item);
  }
  return rest.status();
}

}  // namespace assay
