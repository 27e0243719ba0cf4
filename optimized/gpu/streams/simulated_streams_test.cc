// Streams that go on in any order: what events order stays so, what they leave open is found, and a
// graph does what was captured.
#include "optimized/gpu/streams/simulated_streams.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace assay::gpu {
namespace {

// Work on places of 4 bytes, which notes its number.
struct Log {
  std::vector<int> order;
  StreamWork Work(int number, std::vector<int> reads, std::vector<int> writes) {
    StreamWork work{absl::StrCat("work ", number), {}, {}, [this, number] {
                      order.push_back(number);
                      return absl::OkStatus();
                    }};
    for (const int place : reads) work.reads.push_back({static_cast<uint64_t>(4 * place), 4});
    for (const int place : writes) work.writes.push_back({static_cast<uint64_t>(4 * place), 4});
    return work;
  }
};

TEST(SimulatedStreams, GoOnInDrawnOrders) {
  bool first = false, second = false;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Log log;
    SimulatedStreams streams(seed);
    ASSERT_TRUE(streams.Enqueue(0, log.Work(0, {}, {0})).ok());
    ASSERT_TRUE(streams.Enqueue(1, log.Work(1, {}, {1})).ok());
    EXPECT_TRUE(log.order.empty());
    ASSERT_TRUE(streams.SynchroniseAll().ok());
    ASSERT_EQ(log.order.size(), 2u);
    (log.order[0] == 0 ? first : second) = true;
  }
  EXPECT_TRUE(first && second);
}

TEST(SimulatedStreams, SayWhichTwoNothingOrders) {
  Log log;
  SimulatedStreams streams(1);
  ASSERT_TRUE(streams.Enqueue(0, log.Work(7, {}, {3})).ok());
  ASSERT_TRUE(streams.Record(9, 0).ok());
  ASSERT_TRUE(streams.Wait(1, 9).ok());
  ASSERT_TRUE(streams.Enqueue(1, log.Work(8, {3}, {4})).ok());
  const absl::Status status = streams.Enqueue(2, log.Work(9, {4}, {}));
  EXPECT_NE(std::string(status.message())
                .find("work 9 on stream 2 reads 4 bytes at 0x10, which "
                      "work 8 on stream 1 writes"),
            std::string::npos)
      << status;
  // All fails from there on.
  EXPECT_FALSE(streams.Synchronise(0).ok());
}

// The caller who waited knows that it is done.
TEST(SimulatedStreams, WaitingOrdersAllThatFollows) {
  Log log;
  SimulatedStreams streams(2);
  ASSERT_TRUE(streams.Enqueue(0, log.Work(0, {}, {0})).ok());
  ASSERT_TRUE(streams.Synchronise(0).ok());
  EXPECT_TRUE(streams.Enqueue(5, log.Work(1, {0}, {})).ok());
  EXPECT_EQ(streams.Wait(5, 77).code(), absl::StatusCode::kFailedPrecondition);
}

// Random commands: a finding comes if and only if two that touch the same place have no path of
// streams and events between them; and each order that is drawn keeps all paths.
TEST(SimulatedStreams, FindExactlyWhatNoPathOrders) {
  int found = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    Log log;
    SimulatedStreams streams(seed);
    struct Done {
      std::vector<uint8_t> before;  // by number of work
      std::vector<int> reads, writes;
    };
    std::vector<Done> all;
    std::vector<std::vector<uint8_t>> knows(3, std::vector<uint8_t>(64)), events(4);
    bool is_wrong = false, said = false;
    for (int step = 0; step < 16 && !said; ++step) {
      const auto stream = random() % 3, event = random() % 4;
      const auto choice = random() % 5;
      if (choice < 2) {
        ASSERT_TRUE(streams.Record(event, stream).ok());
        events[event] = knows[stream];
      } else if (!events[event].empty() && choice < 4) {
        ASSERT_TRUE(streams.Wait(stream, event).ok());
        for (size_t k = 0; k < 64; ++k) knows[stream][k] |= events[event][k];
      } else {
        const auto number = static_cast<int>(all.size());
        Done done{
            knows[stream], {static_cast<int>(random() % 24)}, {static_cast<int>(random() % 24)}};
        for (size_t k = 0; k < all.size(); ++k) {
          const int r = done.reads[0], w = done.writes[0];
          const bool meet = all[k].writes[0] == r || all[k].writes[0] == w || all[k].reads[0] == w;
          is_wrong = is_wrong || (meet && done.before[k] == 0);
        }
        said = !streams.Enqueue(stream, log.Work(number, done.reads, done.writes)).ok();
        ASSERT_EQ(said, is_wrong) << seed;
        knows[stream][static_cast<size_t>(number)] = 1;
        all.push_back(done);
      }
    }
    found += said ? 1 : 0;
    if (said) continue;
    ASSERT_TRUE(streams.SynchroniseAll().ok());
    ASSERT_EQ(log.order.size(), all.size());
    std::vector<uint8_t> seen(64);
    for (const int number : log.order) {
      for (size_t k = 0; k < all.size(); ++k) {
        EXPECT_TRUE(all[static_cast<size_t>(number)].before[k] == 0 || seen[k] != 0) << seed;
      }
      seen[static_cast<size_t>(number)] = 1;
    }
  }
  EXPECT_GT(found, 50);
  EXPECT_LT(found, 390);
}

// Two branches of 5 and 7 behind work of 3, and work of 1 behind both: 3 + 7 + 1, in any order. The
// caller who waits holds up whatever is put on a stream later.
TEST(SimulatedStreams, TimeIsThatOfTheLongestWay) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    SimulatedStreams streams(seed);
    const auto work = [&](uint64_t stream, uint64_t time) {
      ASSERT_TRUE(streams
                      .Enqueue(stream, {"work",
                                        {},
                                        {},
                                        [&streams, time] {
                                          streams.Spend(time);
                                          return absl::OkStatus();
                                        }})
                      .ok());
    };
    work(0, 3);
    ASSERT_TRUE(streams.Record(1, 0).ok());
    ASSERT_TRUE(streams.Wait(1, 1).ok());
    work(0, 5);
    work(1, 7);
    ASSERT_TRUE(streams.Record(2, 1).ok());
    ASSERT_TRUE(streams.Wait(0, 2).ok());
    work(0, 1);
    work(2, 4);
    ASSERT_TRUE(streams.SynchroniseAll().ok());
    EXPECT_EQ(streams.Time(), 11u) << seed;
    work(2, 4);
    ASSERT_TRUE(streams.SynchroniseAll().ok());
    EXPECT_EQ(streams.Time(), 15u) << seed;
  }
}

TEST(SimulatedStreams, GraphsDoWhatWasCaptured) {
  Log log;
  SimulatedStreams streams(3);
  ASSERT_TRUE(streams.BeginCapture(0).ok());
  ASSERT_TRUE(streams.Enqueue(0, log.Work(0, {}, {0})).ok());
  ASSERT_TRUE(streams.Record(1, 0).ok());
  ASSERT_TRUE(streams.Wait(4, 1).ok());
  ASSERT_TRUE(streams.Enqueue(4, log.Work(1, {0}, {1})).ok());
  ASSERT_TRUE(streams.Record(2, 4).ok());
  ASSERT_TRUE(streams.Enqueue(0, log.Work(2, {0}, {2})).ok());
  ASSERT_TRUE(streams.Wait(0, 2).ok());
  ASSERT_TRUE(streams.Enqueue(0, log.Work(3, {1, 2}, {0})).ok());
  const auto graph = streams.EndCapture(0);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(log.order.empty());
  for (int k = 0; k < 100; ++k) {
    log.order.clear();
    ASSERT_TRUE(streams.Launch(*graph, 0).ok());
    ASSERT_TRUE(streams.Enqueue(0, log.Work(4, {0}, {0})).ok());
    ASSERT_TRUE(streams.Synchronise(0).ok());
    ASSERT_EQ(log.order.size(), 5u);
    EXPECT_EQ(log.order[0], 0);
    EXPECT_EQ(log.order[3], 3);
  }
}

TEST(SimulatedStreams, GraphsMustComeBack) {
  Log log;
  SimulatedStreams streams(4);
  ASSERT_TRUE(streams.BeginCapture(0).ok());
  ASSERT_TRUE(streams.Record(1, 0).ok());
  ASSERT_TRUE(streams.Wait(4, 1).ok());
  ASSERT_TRUE(streams.Record(2, 4).ok());
  ASSERT_TRUE(streams.Enqueue(4, log.Work(1, {}, {1})).ok());
  ASSERT_TRUE(streams.Wait(0, 2).ok());  // which stands for what came before the work
  EXPECT_FALSE(streams.EndCapture(0).ok());
  EXPECT_FALSE(streams.IsCaptured(4));
}

}  // namespace
}  // namespace assay::gpu
