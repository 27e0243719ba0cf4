// The interface through which all other rooms ask the oracle. `reference` implements it; nothing
// else may look inside.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/backend/captures.h"
#include "spec/numerics/expectation.h"

namespace assay {

// The inputs of one of several devices.
struct DeviceInputs {
  std::vector<const Literal*> arguments;
  std::vector<Literal> infeed;  // arrays that infeeds take, in order
};
// The outputs of one of several devices.
struct DeviceOutputs {
  Literal result;
  std::vector<Literal> outfeed;  // in order
};
struct DeviceExpectation {
  Expectation result;
  std::vector<Expectation> outfeed;
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  // The value of the program in the plain, strict meaning. Errors: rejected (argument shapes),
  // unsupported op or type, timeout (out of steps), out of memory.
  virtual absl::StatusOr<Literal> Evaluate(const Module& module,
                                           const std::vector<const Literal*>& arguments,
                                           const Limits& limits) = 0;
  // Tells which answers are right under a profile.
  virtual absl::StatusOr<Expectation> Expect(const Module& module,
                                             const std::vector<const Literal*>& arguments,
                                             const Profile& profile, const Limits& limits) = 0;

  // Goes on from what was seen inside (spec/backend/captures.h): the expectation of the result is
  // that of a program that goes on from there. Default: unsupported.
  virtual absl::StatusOr<Expectation> ExpectFrom(const Module& module,
                                                 const std::vector<const Literal*>& arguments,
                                                 const Captures& captures, const Profile& profile,
                                                 const Limits& limits);

  // One legal evaluation from what was seen, of those that a compiler might have made: sums in a
  // drawn order, functions off by as much as they may be. `captures.visit` is shown the values as
  // the plain ones of an expectation. Returns the result. Default: unsupported.
  virtual absl::StatusOr<Literal> DrawFrom(const Module& module,
                                           const std::vector<const Literal*>& arguments,
                                           const Captures& captures, const DrawOptions& options,
                                           const Limits& limits);

  // Evaluate and Expect on replicas x partitions devices in lockstep, one entry of `inputs` for
  // each (replica major). The limits hold for all devices together. Further errors: rejected, when
  // devices wait for each other for ever, and who for whom. Default: unsupported.
  virtual absl::StatusOr<std::vector<DeviceOutputs>> EvaluateDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Limits& limits);
  virtual absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Profile& profile, const Limits& limits);
  // ExpectFrom on several devices, of each of which something was seen: collectives go on from what
  // was seen of all their members. Default: unsupported.
  virtual absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevicesFrom(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Captures& captures, const Profile& profile,
      const Limits& limits);
};

}  // namespace assay
