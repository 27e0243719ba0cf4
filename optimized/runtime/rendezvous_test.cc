// Devices as plain threads, without compiled code: what tools that watch threads can look at.
#include "optimized/runtime/rendezvous.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "optimized/runtime/collectives.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

Meeting OneGroup(std::string name, int64_t devices) {
  std::vector<int64_t> all;
  for (int64_t d = 0; d < devices; ++d) all.push_back(d);
  return {std::move(name), std::vector<std::vector<int64_t>>(devices, all),
          std::vector<std::vector<int64_t>>(devices, all)};
}

// Runs `body` on every device; what the run ends with.
absl::Status RunDevices(const std::vector<const Meeting*>& meetings, int64_t devices,
                        const std::function<void(Rendezvous&, int64_t)>& body,
                        steady_clock::duration limit = seconds(60)) {
  std::vector<std::string> names;
  for (int64_t d = 0; d < devices; ++d) names.push_back(StrCat("replica ", d));
  Rendezvous rendezvous(meetings, names);
  std::vector<std::thread> threads;
  for (int64_t d = 0; d < devices; ++d) {
    threads.emplace_back([&, d] {
      body(rendezvous, d);
      rendezvous.Finish(d);
    });
  }
  const absl::Status status = rendezvous.WaitForAll(steady_clock::now() + limit);
  for (std::thread& thread : threads) thread.join();
  return status;
}

void AddInts(void* accumulator, const void* operand, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    static_cast<int32_t*>(accumulator)[i] += static_cast<const int32_t*>(operand)[i];
  }
}

// Operands are written again as soon as a device goes on: whoever reads too late, or what is
// written too early, gives another sum.
TEST(Rendezvous, OperandsStayUntilAllHaveRead) {
  constexpr int64_t kDevices = 5, kRounds = 400;
  std::vector<CollectivePlan> plans(1);
  plans[0].meeting = OneGroup("all-reduce r", kDevices);
  plans[0].position = {0, 1, 2, 3, 4};
  plans[0].arrays = {{1, 8, 8, 4}};
  plans[0].operand_count = 1;
  std::vector<int64_t> wrong(kDevices, 0);
  const absl::Status status =
      RunDevices({&plans[0].meeting}, kDevices, [&](Rendezvous& rendezvous, int64_t d) {
        RunContext context{&rendezvous.stopped(), nullptr, &rendezvous, &plans, d, d, 0};
        int32_t in[2], out[2];
        for (int32_t round = 0; round < kRounds; ++round) {
          in[0] = round * static_cast<int32_t>(d);
          in[1] = round + static_cast<int32_t>(d);
          const void* operands[] = {in};
          void* results[] = {out};
          RunCollective(&context, 0, operands, results, AddInts);
          if (out[0] != 10 * round || out[1] != 5 * round + 10) ++wrong[d];
        }
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(wrong, std::vector<int64_t>(kDevices, 0));
}

TEST(Rendezvous, NobodyWaitsForWhoHasFinished) {
  const Meeting meeting = OneGroup("all-reduce r", 3);
  const absl::Status status = RunDevices({&meeting}, 3, [&](Rendezvous& rendezvous, int64_t d) {
    const int64_t rounds = d == 1 ? 2 : 3;
    for (int64_t k = 0; k < rounds; ++k) {
      if (rendezvous.Arrive(d, 0, nullptr, 0)) rendezvous.Leave(d, 0);
    }
  });
  EXPECT_EQ(ClassOf(status), ErrorClass::kTimeout);
  EXPECT_EQ(status.message().substr(status.message().find("replica")),
            "replica 0 waits in all-reduce r (execution 3) for replica 1; "
            "replica 2 waits in all-reduce r (execution 3) for replica 1; replica 1 has finished");
}

TEST(Rendezvous, DifferentMeetingsDoNotMeet) {
  const Meeting left = OneGroup("all-reduce left", 2), right = OneGroup("all-gather right", 2);
  const absl::Status status =
      RunDevices({&left, &right}, 2, [&](Rendezvous& rendezvous, int64_t d) {
        EXPECT_FALSE(rendezvous.Arrive(d, d, nullptr, 0));
      });
  EXPECT_EQ(status.message().substr(status.message().find("replica")),
            "replica 0 waits in all-reduce left for replica 1; "
            "replica 1 waits in all-gather right for replica 0");
}

TEST(Rendezvous, AnErrorOnOneDeviceEndsAll) {
  const Meeting meeting = OneGroup("all-reduce r", 4);
  const absl::Status status = RunDevices({&meeting}, 4, [&](Rendezvous& rendezvous, int64_t d) {
    if (d == 2) {
      rendezvous.Fail(MakeError(ErrorClass::kRejected, "device 2 will not"));
      return;
    }
    EXPECT_FALSE(rendezvous.Arrive(d, 0, nullptr, 0));
  });
  EXPECT_NE(status.message().find("device 2 will not"), std::string::npos) << status;
}

TEST(Rendezvous, TheDeadlineEndsAll) {
  const Meeting meeting = OneGroup("all-reduce r", 2);
  const absl::Status status = RunDevices(
      {&meeting}, 2,
      [&](Rendezvous& rendezvous, int64_t d) {
        if (d == 0) {
          EXPECT_FALSE(rendezvous.Arrive(d, 0, nullptr, 0));
        } else {
          while (rendezvous.stopped() == 0) std::this_thread::yield();
        }
      },
      std::chrono::milliseconds(50));
  EXPECT_EQ(ClassOf(status), ErrorClass::kTimeout);
  EXPECT_NE(status.message().find(
                "replica 0 waits in all-reduce r for replica 1; replica 1 still computes"),
            std::string::npos)
      << status;
}

// A sender does not wait for those whom it sends nothing.
TEST(Rendezvous, OnlySourcesAndReadersAreWaitedFor) {
  Meeting pairs{"collective-permute p", {{}, {0}, {}}, {{1}, {}, {}}};
  std::vector<int> met(3, 0);
  const absl::Status status = RunDevices({&pairs}, 3, [&](Rendezvous& rendezvous, int64_t d) {
    const int times = d == 2 ? 5 : 1;
    for (int k = 0; k < times; ++k) {
      met[d] += rendezvous.Arrive(d, 0, nullptr, 0) && rendezvous.Leave(d, 0) ? 1 : 0;
    }
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(met, (std::vector<int>{1, 1, 5}));
}

}  // namespace
}  // namespace assay
