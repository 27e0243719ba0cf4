// Writes the few fields that are used; the message is XLA's xla/pjrt/proto/compile_options.proto.
#include "fuzz/backends/pjrt/compile_options.h"

#include "absl/strings/numbers.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace assay::pjrt {
namespace {

// Fields of CompileOptionsProto, of ExecutableBuildOptionsProto, of an entry of the map of flags
// and of OptionOverrideProto.
constexpr int kBuildOptions = 3, kPortable = 4, kFlags = 7;
constexpr int kDeviceOrdinal = 1, kReplicas = 4, kPartitions = 5;
constexpr int kKey = 1, kValue = 2;
constexpr int kText = 1, kTruth = 2, kInteger = 3;

class Message {
 public:
  void Number(int field, int64_t value) {
    Write([&](google::protobuf::io::CodedOutputStream& out) {
      out.WriteTag(static_cast<uint32_t>(field) << 3);
      out.WriteVarint64(static_cast<uint64_t>(value));
    });
  }
  void Bytes(int field, const std::string& value) {
    Write([&](google::protobuf::io::CodedOutputStream& out) {
      out.WriteTag(static_cast<uint32_t>(field) << 3 | 2);
      out.WriteVarint32(static_cast<uint32_t>(value.size()));
      out.WriteString(value);
    });
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename Function>
  void Write(const Function& write) {
    google::protobuf::io::StringOutputStream stream(&bytes_);
    google::protobuf::io::CodedOutputStream out(&stream);
    write(out);
  }
  std::string bytes_;
};

Message ValueOf(const std::string& text) {
  Message value;
  int64_t number = 0;
  if (text == "true" || text == "false") {
    value.Number(kTruth, text == "true" ? 1 : 0);
  } else if (absl::SimpleAtoi(text, &number)) {
    value.Number(kInteger, number);
  } else {
    value.Bytes(kText, text);
  }
  return value;
}

}  // namespace

std::string CompileOptionsBytes(const std::map<std::string, std::string>& flags, int64_t replicas) {
  Message build;
  build.Number(kDeviceOrdinal, -1);  // none in particular
  build.Number(kReplicas, replicas);
  build.Number(kPartitions, 1);
  Message options;
  options.Bytes(kBuildOptions, build.bytes());
  for (const auto& [name, value] : flags) {
    Message entry;
    entry.Bytes(kKey, name);
    entry.Bytes(kValue, ValueOf(value).bytes());
    options.Bytes(kFlags, entry.bytes());
  }
  return options.bytes();
}

std::string PortableOptionsBytes() {
  Message build;
  build.Number(kReplicas, 1);
  build.Number(kPartitions, 1);
  Message options;
  options.Bytes(kBuildOptions, build.bytes());
  options.Number(kPortable, 1);
  return options.bytes();
}

}  // namespace assay::pjrt
