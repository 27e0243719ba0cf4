// The exchange of values between devices: meetings of a group in a collective, channels of send and
// recv, and values that another device has still to give.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "reference/values/value.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

// One execution of a collective by one process group. The last member to come combines what all
// have given.
struct Meeting {
  const Instruction* instruction;
  int64_t group;      // -1: a device outside every group, alone
  int64_t execution;  // its number, the same for all members
  std::vector<int64_t> members;
  std::vector<std::vector<Value>> given;  // operands by member; empty: not there yet
  int64_t missing;
  bool complete = false;
  std::vector<Value> results;  // by member
};

// The data on the way from the sends of a channel to its recvs; the k-th goes to the k-th.
struct Channel {
  int64_t sender = -1, receiver = -1;  // devices
  std::deque<Value> sent;              // not taken yet
  int64_t sends = 0, recvs = 0;
};

// A value that another device has still to give: of start instructions and recv.
struct Pending {
  std::function<bool()> ready;
  std::function<std::string()> for_what;
  std::function<Value()> take;  // once, when ready
  // The elements of the context itself, given what was taken: what an async-done around it shows.
  std::function<Value(const Value& taken)> elements;
};

// True if the value, or a part of it, has still to be given.
bool HoldsPending(const Value& value);

}  // namespace assay::reference
