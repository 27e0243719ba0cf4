// Packed files: what gzip makes is read, what it did not make is an error.
#include "spec/proto/gzip.h"
#include "spec/ir/hlo_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "spec/files/load_module.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gzip, GivesWhatWasPacked) {
  for (const size_t size : {0, 1, 65535, 65536, 65537, 1000000}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 3);
    const absl::StatusOr<std::string> again = Gunzip(Gzip(bytes));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*again == bytes) << size;
  }
  EXPECT_EQ(*Gunzip(Gzip("one") + Gzip("") + Gzip("two")), "onetwo");
}

TEST(Gzip, LimitIsExact) {
  const std::string packed = Gzip(std::string(100000, 'x'));
  EXPECT_LT(packed.size(), 300u);
  EXPECT_EQ(Gunzip(packed, 100000)->size(), 100000u);
  for (const int64_t limit : {0, 10, 65536, 99999}) {
    const absl::StatusOr<std::string> cut = Gunzip(packed, limit);
    EXPECT_EQ(cut.status().code(), absl::StatusCode::kResourceExhausted) << limit;
    EXPECT_THAT(std::string(cut.status().message()), HasSubstr("more than"));
  }
  EXPECT_EQ(*Gunzip(Gzip(""), 0), "");
}

TEST(Gzip, DamageIsAnError) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * 7919);
  const std::string packed = Gzip(text);
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(Gunzip(packed.substr(0, size)).ok()) << size;
  EXPECT_THAT(std::string(Gunzip(packed.substr(0, 100)).status().message()), HasSubstr("cut off"));
  EXPECT_THAT(std::string(Gunzip(packed + "rest").status().message()), HasSubstr("4 more follow"));
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_THAT(std::string(Gunzip(damaged).status().message()), HasSubstr("damaged"));
}

TEST(Gzip, ModulesAreOpened) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule("f32[2]{0} negate(f32[2]{0} a), metadata={op_name=\"n\"}");
  ASSERT_TRUE(module.ok()) << module.status();
  hlo_module::mutable_entry_computation_layout(**module);
  const std::string text = WriteModule(**module), bytes = *WriteModuleProto(**module);
  EXPECT_EQ(WriteModule(**ReadModuleProto(Gzip(bytes))), text);
  EXPECT_THAT(std::string(ReadModuleProto(Gzip(Gzip(bytes))).status().message()),
              HasSubstr("packed twice"));
  const std::string path = ::testing::TempDir() + "/gzip_test.hlo.gz";
  for (const std::string& content : {text, bytes}) {
    std::ofstream(path, std::ios::binary) << Gzip(content);
    absl::StatusOr<std::unique_ptr<Module>> loaded = LoadModule(path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(WriteModule(**loaded), text);
  }
  std::ofstream(path, std::ios::binary) << Gzip(bytes).substr(0, 30);
  EXPECT_THAT(std::string(LoadModule(path).status().message()), HasSubstr("gzip_test.hlo.gz: "));
}

}  // namespace
}  // namespace assay
