// The stand-in for the driver and NVIDIA's libraries, as tests steer and ask it. ASSAY_STAND_IN is
// its file.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace assay::gpu {

template <class F>
F* FindInStandIn(const char* name) {
  static void* library = dlopen(ASSAY_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F*>(dlsym(library, name));
}

// The call after `calls` more ones gives `code`; negative: none does.
inline void FailAt(int calls, int code) {
  FindInStandIn<void(int, int)>("assayStandInFail")(calls, code);
}
inline int CallsSoFar() { return FindInStandIn<int()>("assayStandInCalls")(); }
inline int64_t CountOf(const std::string& call) {
  return FindInStandIn<int64_t(const char*)>("assayStandInCount")(call.c_str());
}
// Everything that was done wrong, a line each.
inline std::string ReportOfStandIn() {
  return FindInStandIn<const char*()>("assayStandInReport")();
}
// Memory, modules, events and graphs that live.
inline int64_t LivingInStandIn() { return FindInStandIn<int64_t()>("assayStandInLiving")(); }
// Changes a call by so much wherever it is made, as if its caller had made a mistake.
inline void BendCall(const std::string& call, int64_t by) {
  FindInStandIn<void(const char*, int64_t)>("assayStandInBend")(call.c_str(), by);
}
// A new process, as it were.
inline void ResetStandIn() { FindInStandIn<void()>("assayStandInReset")(); }

}  // namespace assay::gpu
