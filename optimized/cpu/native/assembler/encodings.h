// The x86-64 instructions that are written without LLVM, as a table of their encodings. Follows the
// opcode maps of the manuals of AMD (volume 3) and Intel (volume 2).
#pragma once

#include <cstdint>

namespace assay::direct {

enum class Gpr : uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15
};
// The number of a vector register.
enum class Vec : uint8_t {};

// The low bits of the opcodes of jumps, moves and settings on condition.
enum class Condition : uint8_t {
  kBelow = 2,
  kAboveEqual = 3,
  kEqual = 4,
  kNotEqual = 5,
  kBelowEqual = 6,
  kAbove = 7,
  kSign = 8,
  kNotSign = 9,
  kParity = 10,
  kNotParity = 11,
  kLess = 12,
  kGreaterEqual = 13,
  kLessEqual = 14,
  kGreater = 15,
};
constexpr Condition Inverse(Condition condition) {
  return static_cast<Condition>(static_cast<uint8_t>(condition) ^ 1);
}

// An instruction on general registers. `map`: 0 one byte, 1 after 0F. `prefix`: 0, F2 or F3.
struct IntOp {
  const char* name;
  uint8_t opcode;
  uint8_t map = 0;
  uint8_t prefix = 0;
  bool byte_source = false;  // the operand that may be memory is a byte
};
inline constexpr IntOp kMov{"mov", 0x8B};
inline constexpr IntOp kMovStore{"mov", 0x89};
inline constexpr IntOp kMovStore8{"mov", 0x88, 0, 0, true};
inline constexpr IntOp kMovzx8{"movzx", 0xB6, 1, 0, true};
inline constexpr IntOp kMovzx16{"movzx", 0xB7, 1};
inline constexpr IntOp kMovsx8{"movsx", 0xBE, 1, 0, true};
inline constexpr IntOp kMovsx16{"movsx", 0xBF, 1};
inline constexpr IntOp kMovsxd{"movsxd", 0x63};
inline constexpr IntOp kAdd{"add", 0x03};
inline constexpr IntOp kSub{"sub", 0x2B};
inline constexpr IntOp kAnd{"and", 0x23};
inline constexpr IntOp kOr{"or", 0x0B};
inline constexpr IntOp kXor{"xor", 0x33};
inline constexpr IntOp kCmp{"cmp", 0x3B};
inline constexpr IntOp kTest{"test", 0x85};
inline constexpr IntOp kImul{"imul", 0xAF, 1};
inline constexpr IntOp kLea{"lea", 0x8D};
inline constexpr IntOp kPopcnt{"popcnt", 0xB8, 1, 0xF3};
inline constexpr IntOp kLzcnt{"lzcnt", 0xBD, 1, 0xF3};

// An instruction on one operand, or on one and an immediate; `extension` fills the other's place.
struct GroupOp {
  const char* name;
  uint8_t opcode;
  uint8_t extension;
};
inline constexpr GroupOp kNot{"not", 0xF7, 2};
inline constexpr GroupOp kNeg{"neg", 0xF7, 3};
inline constexpr GroupOp kDiv{"div", 0xF7, 6};
inline constexpr GroupOp kIdiv{"idiv", 0xF7, 7};
// With an immediate of 32 bits, or of 8 (opcode 83).
inline constexpr GroupOp kAddImm{"add", 0x81, 0};
inline constexpr GroupOp kOrImm{"or", 0x81, 1};
inline constexpr GroupOp kAndImm{"and", 0x81, 4};
inline constexpr GroupOp kSubImm{"sub", 0x81, 5};
inline constexpr GroupOp kXorImm{"xor", 0x81, 6};
inline constexpr GroupOp kCmpImm{"cmp", 0x81, 7};
// With an immediate of 8 bits.
inline constexpr GroupOp kShlImm{"shl", 0xC1, 4};
inline constexpr GroupOp kShrImm{"shr", 0xC1, 5};
inline constexpr GroupOp kSarImm{"sar", 0xC1, 7};

// An instruction with a VEX prefix. `prefix`: 0 none, 1 66, 2 F3, 3 F2. `map`: 1 0F, 2 0F38, 3
// 0F3A.
struct VexOp {
  const char* name;
  uint8_t prefix;
  uint8_t map;
  uint8_t opcode;
  bool wide = false;      // VEX.W
  uint8_t extension = 0;  // shifts by an immediate: fills the place of the first register
};

inline constexpr VexOp kMovUps{"vmovups", 0, 1, 0x10};
inline constexpr VexOp kMovUpsStore{"vmovups", 0, 1, 0x11};
inline constexpr VexOp kMovAps{"vmovaps", 0, 1, 0x28};
inline constexpr VexOp kMovSs{"vmovss", 2, 1, 0x10};
inline constexpr VexOp kMovSsStore{"vmovss", 2, 1, 0x11};
inline constexpr VexOp kMovSd{"vmovsd", 3, 1, 0x10};
inline constexpr VexOp kMovSdStore{"vmovsd", 3, 1, 0x11};
inline constexpr VexOp kMovD{"vmovd", 1, 1, 0x6E};
inline constexpr VexOp kMovQ{"vmovq", 1, 1, 0x6E, true};
inline constexpr VexOp kMovDStore{"vmovd", 1, 1, 0x7E};
inline constexpr VexOp kMovQStore{"vmovq", 1, 1, 0x7E, true};

inline constexpr VexOp kAddPs{"vaddps", 0, 1, 0x58}, kAddPd{"vaddpd", 1, 1, 0x58};
inline constexpr VexOp kAddSs{"vaddss", 2, 1, 0x58}, kAddSd{"vaddsd", 3, 1, 0x58};
inline constexpr VexOp kMulPs{"vmulps", 0, 1, 0x59}, kMulPd{"vmulpd", 1, 1, 0x59};
inline constexpr VexOp kMulSs{"vmulss", 2, 1, 0x59}, kMulSd{"vmulsd", 3, 1, 0x59};
inline constexpr VexOp kSubPs{"vsubps", 0, 1, 0x5C}, kSubPd{"vsubpd", 1, 1, 0x5C};
inline constexpr VexOp kSubSs{"vsubss", 2, 1, 0x5C}, kSubSd{"vsubsd", 3, 1, 0x5C};
inline constexpr VexOp kMinPs{"vminps", 0, 1, 0x5D}, kMinPd{"vminpd", 1, 1, 0x5D};
inline constexpr VexOp kMinSd{"vminsd", 3, 1, 0x5D};
inline constexpr VexOp kDivPs{"vdivps", 0, 1, 0x5E}, kDivPd{"vdivpd", 1, 1, 0x5E};
inline constexpr VexOp kDivSs{"vdivss", 2, 1, 0x5E}, kDivSd{"vdivsd", 3, 1, 0x5E};
inline constexpr VexOp kMaxPs{"vmaxps", 0, 1, 0x5F}, kMaxPd{"vmaxpd", 1, 1, 0x5F};
inline constexpr VexOp kMaxSd{"vmaxsd", 3, 1, 0x5F};
inline constexpr VexOp kSqrtPs{"vsqrtps", 0, 1, 0x51}, kSqrtPd{"vsqrtpd", 1, 1, 0x51};
inline constexpr VexOp kSqrtSs{"vsqrtss", 2, 1, 0x51}, kSqrtSd{"vsqrtsd", 3, 1, 0x51};
inline constexpr VexOp kCmpPs{"vcmpps", 0, 1, 0xC2}, kCmpPd{"vcmppd", 1, 1, 0xC2};
inline constexpr VexOp kAndPs{"vandps", 0, 1, 0x54}, kAndnPs{"vandnps", 0, 1, 0x55};
inline constexpr VexOp kOrPs{"vorps", 0, 1, 0x56}, kXorPs{"vxorps", 0, 1, 0x57};
inline constexpr VexOp kRoundPs{"vroundps", 1, 3, 0x08}, kRoundPd{"vroundpd", 1, 3, 0x09};
inline constexpr VexOp kFma213Ps{"vfmadd213ps", 1, 2, 0xA8};
inline constexpr VexOp kFma213Pd{"vfmadd213pd", 1, 2, 0xA8, true};
inline constexpr VexOp kFma213Ss{"vfmadd213ss", 1, 2, 0xA9};
inline constexpr VexOp kFma213Sd{"vfmadd213sd", 1, 2, 0xA9, true};

inline constexpr VexOp kPsToPd{"vcvtps2pd", 0, 1, 0x5A}, kPdToPs{"vcvtpd2ps", 1, 1, 0x5A};
inline constexpr VexOp kSsToSd{"vcvtss2sd", 2, 1, 0x5A}, kSdToSs{"vcvtsd2ss", 3, 1, 0x5A};
inline constexpr VexOp kDqToPs{"vcvtdq2ps", 0, 1, 0x5B}, kDqToPd{"vcvtdq2pd", 2, 1, 0xE6};
inline constexpr VexOp kQToSs{"vcvtsi2ss", 2, 1, 0x2A, true};
inline constexpr VexOp kQToSd{"vcvtsi2sd", 3, 1, 0x2A, true};
inline constexpr VexOp kSdToQ{"vcvttsd2si", 3, 1, 0x2C, true};
inline constexpr VexOp kUcomiSs{"vucomiss", 0, 1, 0x2E}, kUcomiSd{"vucomisd", 1, 1, 0x2E};
inline constexpr VexOp kPhToPs{"vcvtph2ps", 1, 2, 0x13}, kPsToPh{"vcvtps2ph", 1, 3, 0x1D};

inline constexpr VexOp kPaddb{"vpaddb", 1, 1, 0xFC}, kPaddw{"vpaddw", 1, 1, 0xFD};
inline constexpr VexOp kPaddd{"vpaddd", 1, 1, 0xFE}, kPaddq{"vpaddq", 1, 1, 0xD4};
inline constexpr VexOp kPsubb{"vpsubb", 1, 1, 0xF8}, kPsubw{"vpsubw", 1, 1, 0xF9};
inline constexpr VexOp kPsubd{"vpsubd", 1, 1, 0xFA}, kPsubq{"vpsubq", 1, 1, 0xFB};
inline constexpr VexOp kPmullw{"vpmullw", 1, 1, 0xD5}, kPmulld{"vpmulld", 1, 2, 0x40};
inline constexpr VexOp kPcmpeqb{"vpcmpeqb", 1, 1, 0x74}, kPcmpeqw{"vpcmpeqw", 1, 1, 0x75};
inline constexpr VexOp kPcmpeqd{"vpcmpeqd", 1, 1, 0x76}, kPcmpeqq{"vpcmpeqq", 1, 2, 0x29};
inline constexpr VexOp kPcmpgtb{"vpcmpgtb", 1, 1, 0x64}, kPcmpgtw{"vpcmpgtw", 1, 1, 0x65};
inline constexpr VexOp kPcmpgtd{"vpcmpgtd", 1, 1, 0x66}, kPcmpgtq{"vpcmpgtq", 1, 2, 0x37};
inline constexpr VexOp kPminsb{"vpminsb", 1, 2, 0x38}, kPminsw{"vpminsw", 1, 1, 0xEA};
inline constexpr VexOp kPminsd{"vpminsd", 1, 2, 0x39}, kPminub{"vpminub", 1, 1, 0xDA};
inline constexpr VexOp kPminuw{"vpminuw", 1, 2, 0x3A}, kPminud{"vpminud", 1, 2, 0x3B};
inline constexpr VexOp kPmaxsb{"vpmaxsb", 1, 2, 0x3C}, kPmaxsw{"vpmaxsw", 1, 1, 0xEE};
inline constexpr VexOp kPmaxsd{"vpmaxsd", 1, 2, 0x3D}, kPmaxub{"vpmaxub", 1, 1, 0xDE};
inline constexpr VexOp kPmaxuw{"vpmaxuw", 1, 2, 0x3E}, kPmaxud{"vpmaxud", 1, 2, 0x3F};
inline constexpr VexOp kPabsb{"vpabsb", 1, 2, 0x1C}, kPabsw{"vpabsw", 1, 2, 0x1D};
inline constexpr VexOp kPabsd{"vpabsd", 1, 2, 0x1E};
inline constexpr VexOp kPsllw{"vpsllw", 1, 1, 0x71, false, 6};
inline constexpr VexOp kPsrlw{"vpsrlw", 1, 1, 0x71, false, 2};
inline constexpr VexOp kPsraw{"vpsraw", 1, 1, 0x71, false, 4};
inline constexpr VexOp kPslld{"vpslld", 1, 1, 0x72, false, 6};
inline constexpr VexOp kPsrld{"vpsrld", 1, 1, 0x72, false, 2};
inline constexpr VexOp kPsrad{"vpsrad", 1, 1, 0x72, false, 4};
inline constexpr VexOp kPsllq{"vpsllq", 1, 1, 0x73, false, 6};
inline constexpr VexOp kPsrlq{"vpsrlq", 1, 1, 0x73, false, 2};
inline constexpr VexOp kPsllvd{"vpsllvd", 1, 2, 0x47}, kPsllvq{"vpsllvq", 1, 2, 0x47, true};
inline constexpr VexOp kPsrlvd{"vpsrlvd", 1, 2, 0x45}, kPsrlvq{"vpsrlvq", 1, 2, 0x45, true};
inline constexpr VexOp kPsravd{"vpsravd", 1, 2, 0x46};

inline constexpr VexOp kPackuswb{"vpackuswb", 1, 1, 0x67}, kPackusdw{"vpackusdw", 1, 2, 0x2B};
inline constexpr VexOp kShufps{"vshufps", 0, 1, 0xC6}, kPermq{"vpermq", 1, 3, 0x00, true};
inline constexpr VexOp kPermd{"vpermd", 1, 2, 0x36};
inline constexpr VexOp kPmovsxbw{"vpmovsxbw", 1, 2, 0x20}, kPmovsxbd{"vpmovsxbd", 1, 2, 0x21};
inline constexpr VexOp kPmovsxbq{"vpmovsxbq", 1, 2, 0x22}, kPmovsxwd{"vpmovsxwd", 1, 2, 0x23};
inline constexpr VexOp kPmovsxwq{"vpmovsxwq", 1, 2, 0x24}, kPmovsxdq{"vpmovsxdq", 1, 2, 0x25};
inline constexpr VexOp kPmovzxbw{"vpmovzxbw", 1, 2, 0x30}, kPmovzxbd{"vpmovzxbd", 1, 2, 0x31};
inline constexpr VexOp kPmovzxbq{"vpmovzxbq", 1, 2, 0x32}, kPmovzxwd{"vpmovzxwd", 1, 2, 0x33};
inline constexpr VexOp kPmovzxwq{"vpmovzxwq", 1, 2, 0x34}, kPmovzxdq{"vpmovzxdq", 1, 2, 0x35};
inline constexpr VexOp kPmovmskb{"vpmovmskb", 1, 1, 0xD7};
// The fourth register is in the immediate.
inline constexpr VexOp kPblendvb{"vpblendvb", 1, 3, 0x4C};
inline constexpr VexOp kInsertF128{"vinsertf128", 1, 3, 0x18};
inline constexpr VexOp kBroadcastD{"vpbroadcastd", 1, 2, 0x58};
inline constexpr VexOp kBroadcastQ{"vpbroadcastq", 1, 2, 0x59};
inline constexpr VexOp kBroadcastB{"vpbroadcastb", 1, 2, 0x78};
inline constexpr VexOp kBroadcastW{"vpbroadcastw", 1, 2, 0x79};

// Shifts of general registers by a register (BMI2).
inline constexpr VexOp kShlx{"shlx", 1, 2, 0xF7};
inline constexpr VexOp kSarx{"sarx", 2, 2, 0xF7};
inline constexpr VexOp kShrx{"shrx", 3, 2, 0xF7};

}  // namespace assay::direct
