// Tests what a terminal is shown of text from outside.
#include "spec/base/escape.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace assay {
namespace {

TEST(PrintableTest, LeavesTextAndWritesOutWhatCommandsATerminal) {
  EXPECT_EQ(Printable("a line\n\tand µs, 数"), "a line\n\tand µs, 数");
  EXPECT_EQ(Printable("\033[2J\x07"
                      "bell"),
            "\\u001b[2J\\u0007bell");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(Printable("one\r\ntwo\rthree"), "one\ntwo\\u000dthree");
  EXPECT_EQ(Printable("\x7f\xc2\x9b"
                      "31m"),
            "\\u007f\\u009b31m");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "abc"),
            "\\u202eabc");
}

TEST(PrintableTest, WritesOutWhatIsNoUtf8) {
  EXPECT_EQ(Printable("\xff"), "\\xff");
  EXPECT_EQ(Printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(Printable("\xc0\x80"), "\\xc0\\x80");
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(PrintableTest, LeavesTheValueOfJson) {
  const nlohmann::json json = {{"name", "\033[31m \x7f \xc2\x9b"}};
  EXPECT_EQ(nlohmann::json::parse(Printable(json.dump())), json);
}

}  // namespace
}  // namespace assay
