// The queues through which a program takes items from the host and sends items to it. Document:
// operation semantics chapter 15 (Infeed, Outfeed).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "spec/types/literal.h"

namespace assay {

struct RunContext;

// The queues of one device.
struct HostQueues {
  std::deque<Literal> infeed;
  std::vector<Literal> outfeed;
};

// `name`: of the instruction, for messages. Takes an item for each array of the shape that the text
// says and writes its elements row by row to `leaves`. An item is of that shape, or the bytes in
// the order of its layout. Where there is none or another one, the run ends as rejected and zeros
// are written.
void TakeInfeed(RunContext* context, const char* name, const char* shape, void* const* leaves);

// Sends one value of the shape that the text says, whose arrays lie row by row at `leaves`.
void SendOutfeed(RunContext* context, const char* name, const char* shape,
                 const void* const* leaves);

}  // namespace assay
