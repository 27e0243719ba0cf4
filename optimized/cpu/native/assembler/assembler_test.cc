// Every row of the table of encodings, with registers and addresses of every form, against LLVM's
// disassembler.
#include "optimized/cpu/native/assembler/assembler.h"

#include <array>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "spec/base/strings.h"

namespace assay::direct {
namespace {

// Reads one instruction as text, in Intel's order of operands, without the sizes of memory.
class Reader {
 public:
  Reader() : triple_("x86_64-unknown-linux-gnu") {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetDisassembler();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple_, error);
    registers_.reset(target->createMCRegInfo(triple_));
    info_.reset(target->createMCAsmInfo(*registers_, triple_, llvm::MCTargetOptions()));
    instructions_.reset(target->createMCInstrInfo());
    subtarget_.reset(target->createMCSubtargetInfo(triple_, "x86-64-v3", ""));
    context_ =
        std::make_unique<llvm::MCContext>(triple_, info_.get(), registers_.get(), subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
    printer_.reset(target->createMCInstPrinter(triple_, 1, *info_, *instructions_, *registers_));
  }

  std::string Read(const std::vector<uint8_t>& bytes) {
    llvm::MCInst instruction;
    uint64_t size = 0;
    const auto status = disassembler_->getInstruction(instruction, size, bytes, 0, llvm::nulls());
    if (status != llvm::MCDisassembler::Success) return "no instruction";
    if (size != bytes.size()) return StrCat("an instruction of ", size, " bytes");
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&instruction, 0, "", *subtarget_, stream);
    text = std::regex_replace(text, std::regex("\\s+"), " ");
    text = std::regex_replace(text, std::regex("\\w+ ptr "), "");
    return std::regex_replace(text, std::regex("^ "), "");
  }

 private:
  llvm::Triple triple_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

std::string NameOf(Gpr reg, int bits) {
  constexpr std::array kOld = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  const int number = static_cast<int>(reg);
  if (number >= 8) {
    return StrCat("r", number, bits == 64 ? "" : bits == 32 ? "d" : bits == 16 ? "w" : "b");
  }
  const std::string old = kOld[number];
  if (bits == 8) return number < 4 ? StrCat(old.substr(0, 1), "l") : StrCat(old, "l");
  return StrCat(bits == 64 ? "r" : bits == 32 ? "e" : "", old);
}
std::string NameOf(Vec reg, int length) {
  return StrCat(length == 256 ? "ymm" : "xmm", static_cast<int>(reg));
}
std::string NameOf(const Address& at) {
  std::string text = StrCat("[", NameOf(at.base, 64));
  if (at.kind == Address::Kind::kIndexed) {
    StrAppend(&text, " + ", at.scale == 0 ? "" : StrCat(1 << at.scale, "*"), NameOf(at.index, 64));
  }
  if (at.displacement > 0) StrAppend(&text, " + ", at.displacement);
  if (at.displacement < 0) StrAppend(&text, " - ", -at.displacement);
  return StrCat(text, "]");
}

class EncodingTest : public testing::Test {
 protected:
  Gpr General() { return static_cast<Gpr>(random_() % 16); }
  Vec Vector() { return static_cast<Vec>(random_() % 16); }
  Address Place() {
    constexpr std::array<int32_t, 6> kDisplacements = {0, 8, -128, 127, 4096, -70000};
    Address at = Address::At(General(), kDisplacements[random_() % 6]);
    if (random_() % 2 == 0) {
      at.kind = Address::Kind::kIndexed;
      do at.index = General();
      while (at.index == Gpr::kRsp);
      at.scale = static_cast<uint8_t>(random_() % 4);
    }
    return at;
  }
  void Expect(Assembler& assembler, const std::string& text) {
    EXPECT_EQ(reader_.Read(assembler.code()), text);
  }
  // Tries an instruction on many operands.
  template <typename F>
  void Try(const F& each) {
    for (int k = 0; k < 40; ++k) each();
  }

  std::mt19937 random_{20261122};
  Reader reader_;
};

TEST_F(EncodingTest, VectorsOfThreeOperands) {
  for (const VexOp& op :
       {kAddPs,    kAddPd,    kMulPs,   kMulPd,   kSubPs,   kSubPd,    kMinPs,   kMinPd,
        kDivPs,    kDivPd,    kMaxPs,   kMaxPd,   kAndPs,   kAndnPs,   kOrPs,    kXorPs,
        kFma213Ps, kFma213Pd, kPaddb,   kPaddw,   kPaddd,   kPaddq,    kPsubb,   kPsubw,
        kPsubd,    kPsubq,    kPmullw,  kPmulld,  kPcmpeqb, kPcmpeqw,  kPcmpeqd, kPcmpeqq,
        kPcmpgtb,  kPcmpgtw,  kPcmpgtd, kPcmpgtq, kPminsb,  kPminsw,   kPminsd,  kPminub,
        kPminuw,   kPminud,   kPmaxsb,  kPmaxsw,  kPmaxsd,  kPmaxub,   kPmaxuw,  kPmaxud,
        kPsllvd,   kPsllvq,   kPsrlvd,  kPsrlvq,  kPsravd,  kPackuswb, kPackusdw}) {
    Try([&] {
      const int length = random_() % 2 == 0 ? 128 : 256;
      const Vec x = Vector(), y = Vector(), z = Vector();
      const Address at = Place();
      const std::string start =
          StrCat(op.name, " ", NameOf(x, length), ", ", NameOf(y, length), ", ");
      Assembler registers, memory;
      registers.Vex(op, length, x, y, z);
      memory.Vex(op, length, x, y, at);
      Expect(registers, start + NameOf(z, length));
      Expect(memory, start + NameOf(at));
    });
  }
}

TEST_F(EncodingTest, ScalarsOfThreeOperands) {
  for (const VexOp& op : {kAddSs, kAddSd, kMulSs, kMulSd, kSubSs, kSubSd, kMinSd, kDivSs, kDivSd,
                          kMaxSd, kSqrtSs, kSqrtSd, kSsToSd, kSdToSs, kFma213Ss, kFma213Sd}) {
    Try([&] {
      const Vec x = Vector(), y = Vector();
      const Address at = Place();
      Assembler memory;
      memory.Vex(op, 128, x, y, at);
      Expect(memory, StrCat(op.name, " ", NameOf(x, 128), ", ", NameOf(y, 128), ", ", NameOf(at)));
    });
  }
}

TEST_F(EncodingTest, VectorsOfTwoOperands) {
  for (const VexOp& op : {kMovUps, kMovAps, kSqrtPs, kSqrtPd, kDqToPs, kPabsb, kPabsw, kPabsd}) {
    Try([&] {
      const Vec x = Vector(), y = Vector();
      const Address at = Place();
      Assembler registers, memory;
      registers.Vex(op, 256, x, y);
      memory.Vex(op, 256, x, at);
      Expect(registers, StrCat(op.name, " ", NameOf(x, 256), ", ", NameOf(y, 256)));
      Expect(memory, StrCat(op.name, " ", NameOf(x, 256), ", ", NameOf(at)));
    });
  }
  // These read fewer bytes than they make.
  for (const VexOp& op :
       {kPsToPd, kDqToPd, kPhToPs, kPmovsxbw, kPmovsxbd, kPmovsxbq, kPmovsxwd, kPmovsxwq, kPmovsxdq,
        kPmovzxbw, kPmovzxbd, kPmovzxbq, kPmovzxwd, kPmovzxwq, kPmovzxdq, kBroadcastB, kBroadcastW,
        kBroadcastD, kBroadcastQ}) {
    Try([&] {
      const Vec x = Vector();
      const Address at = Place();
      Assembler memory;
      memory.Vex(op, 256, x, at);
      Expect(memory, StrCat(op.name, " ", NameOf(x, 256), ", ", NameOf(at)));
    });
  }
  for (const VexOp& op : {kMovSs, kMovSd, kMovD, kUcomiSs, kUcomiSd}) {
    Try([&] {
      const Vec x = Vector();
      const Address at = Place();
      Assembler memory;
      memory.Vex(op, 128, x, at);
      Expect(memory, StrCat(op.name, " ", NameOf(x, 128), ", ", NameOf(at)));
    });
  }
}

TEST_F(EncodingTest, StoresAndMovesBetweenRegisters) {
  for (const VexOp& op : {kMovUpsStore, kMovSsStore, kMovSdStore, kMovDStore, kMovQStore}) {
    Try([&] {
      const Vec x = Vector();
      const Address at = Place();
      Assembler memory;
      memory.Vex(op, 128, x, at);
      Expect(memory, StrCat(op.name, " ", NameOf(at), ", ", NameOf(x, 128)));
    });
  }
  Try([&] {
    const Vec x = Vector();
    const Gpr r = General();
    Assembler d, q, from_d, from_q, mask, to_q, to_s, of_q, narrow;
    d.Vex(kMovD, 128, x, r);
    q.Vex(kMovQ, 128, x, r);
    from_d.Vex(kMovDStore, 128, x, r);
    from_q.Vex(kMovQStore, 128, x, r);
    mask.VexGeneral(kPmovmskb, 256, r, x);
    to_q.Vex(kQToSd, 128, x, x, r);
    to_s.Vex(kQToSs, 128, x, x, r);
    of_q.VexGeneral(kSdToQ, 128, r, x);
    narrow.Vex(kPdToPs, 256, x, x);
    const std::string v = NameOf(x, 128), wide = NameOf(r, 64), half = NameOf(r, 32);
    Expect(d, StrCat("vmovd ", v, ", ", half));
    Expect(q, StrCat("vmovq ", v, ", ", wide));
    Expect(from_d, StrCat("vmovd ", half, ", ", v));
    Expect(from_q, StrCat("vmovq ", wide, ", ", v));
    Expect(mask, StrCat("vpmovmskb ", half, ", ", NameOf(x, 256)));
    Expect(to_q, StrCat("vcvtsi2sd ", v, ", ", v, ", ", wide));
    Expect(to_s, StrCat("vcvtsi2ss ", v, ", ", v, ", ", wide));
    Expect(of_q, StrCat("vcvttsd2si ", wide, ", ", v));
    Expect(narrow, StrCat("vcvtpd2ps ", v, ", ", NameOf(x, 256)));
  });
}

TEST_F(EncodingTest, Immediates) {
  for (const VexOp& op : {kPsllw, kPsrlw, kPsraw, kPslld, kPsrld, kPsrad, kPsllq, kPsrlq}) {
    Try([&] {
      const Vec x = Vector(), y = Vector();
      Assembler shift;
      shift.VexShift(op, 256, x, y, 11);
      Expect(shift, StrCat(op.name, " ", NameOf(x, 256), ", ", NameOf(y, 256), ", 11"));
    });
  }
  Try([&] {
    const Vec x = Vector(), y = Vector(), z = Vector();
    const Address at = Place();
    Assembler round, shuffle, permute, half, insert, blend, compare, wide_compare;
    const std::string a = NameOf(x, 256), b = NameOf(y, 256);
    round.VexImmediate(kRoundPd, 256, x, Vec{}, y, 11);
    Expect(round, StrCat("vroundpd ", a, ", ", b, ", 11"));
    shuffle.VexImmediate(kShufps, 256, x, y, at, 0x48);
    Expect(shuffle, StrCat("vshufps ", a, ", ", b, ", ", NameOf(at), ", 72"));
    permute.VexImmediate(kPermq, 256, x, Vec{}, at, 0x58);
    Expect(permute, StrCat("vpermq ", a, ", ", NameOf(at), ", 88"));
    half.VexImmediate(kPsToPh, 256, x, Vec{}, y, 4);
    Expect(half, StrCat("vcvtps2ph ", NameOf(y, 128), ", ", a, ", 4"));
    Assembler pick;
    pick.Vex(kPermd, 256, x, y, at);
    Expect(pick, StrCat("vpermd ", a, ", ", b, ", ", NameOf(at)));
    insert.VexImmediate(kInsertF128, 256, x, y, z, 1);
    Expect(insert, StrCat("vinsertf128 ", a, ", ", b, ", ", NameOf(z, 128), ", 1"));
    blend.VexImmediate(kPblendvb, 256, x, y, at, static_cast<uint8_t>(static_cast<int>(z) << 4));
    Expect(blend, StrCat("vpblendvb ", a, ", ", b, ", ", NameOf(at), ", ", NameOf(z, 256)));
    compare.VexImmediate(kCmpPs, 256, x, y, at, 3);
    Expect(compare, StrCat("vcmpunordps ", a, ", ", b, ", ", NameOf(at)));
    wide_compare.VexImmediate(kCmpPd, 256, x, y, z, 0);
    Expect(wide_compare, StrCat("vcmpeqpd ", a, ", ", b, ", ", NameOf(z, 256)));
  });
}

TEST_F(EncodingTest, GeneralRegisters) {
  for (const IntOp& op : {kMov, kAdd, kSub, kAnd, kOr, kXor, kCmp, kImul, kPopcnt, kLzcnt}) {
    Try([&] {
      const int bits = random_() % 2 == 0 ? 32 : 64;
      const Gpr x = General(), y = General();
      const Address at = Place();
      Assembler registers, memory;
      registers.Int(op, bits, x, y);
      memory.Int(op, bits, x, at);
      Expect(registers, StrCat(op.name, " ", NameOf(x, bits), ", ", NameOf(y, bits)));
      Expect(memory, StrCat(op.name, " ", NameOf(x, bits), ", ", NameOf(at)));
    });
  }
  Try([&] {
    const Gpr x = General(), y = General();
    const Address at = Place();
    Assembler byte, word, zero8, zero16, sign8, sign16, sign32, lea, test, move_if, set;
    byte.Int(kMovStore8, 32, x, at);
    Expect(byte, StrCat("mov ", NameOf(at), ", ", NameOf(x, 8)));
    word.Int(kMovStore, 16, x, at);
    Expect(word, StrCat("mov ", NameOf(at), ", ", NameOf(x, 16)));
    zero8.Int(kMovzx8, 32, x, y);
    Expect(zero8, StrCat("movzx ", NameOf(x, 32), ", ", NameOf(y, 8)));
    zero16.Int(kMovzx16, 32, x, at);
    Expect(zero16, StrCat("movzx ", NameOf(x, 32), ", ", NameOf(at)));
    sign8.Int(kMovsx8, 64, x, y);
    Expect(sign8, StrCat("movsx ", NameOf(x, 64), ", ", NameOf(y, 8)));
    sign16.Int(kMovsx16, 64, x, y);
    Expect(sign16, StrCat("movsx ", NameOf(x, 64), ", ", NameOf(y, 16)));
    sign32.Int(kMovsxd, 64, x, y);
    Expect(sign32, StrCat("movsxd ", NameOf(x, 64), ", ", NameOf(y, 32)));
    lea.Int(kLea, 64, x, at);
    Expect(lea, StrCat("lea ", NameOf(x, 64), ", ", NameOf(at)));
    test.Int(kTest, 64, x, y);
    Expect(test, StrCat("test ", NameOf(y, 64), ", ", NameOf(x, 64)));
    move_if.MoveIf(Condition::kParity, x, y);
    Expect(move_if, StrCat("cmovp ", NameOf(x, 64), ", ", NameOf(y, 64)));
    set.Set(Condition::kGreaterEqual, x);
    Expect(set, StrCat("setge ", NameOf(x, 8)));
  });
}

TEST_F(EncodingTest, GeneralImmediatesAndShifts) {
  for (const GroupOp& op : {kNot, kNeg, kDiv, kIdiv}) {
    Try([&] {
      const Gpr x = General();
      Assembler unary;
      unary.Group(op, 64, x);
      Expect(unary, StrCat(op.name, " ", NameOf(x, 64)));
    });
  }
  for (const GroupOp& op : {kAddImm, kOrImm, kAndImm, kSubImm, kXorImm, kCmpImm}) {
    Try([&] {
      const Gpr x = General();
      const int32_t value = random_() % 2 == 0 ? -5 : 100000;
      Assembler immediate;
      immediate.GroupImmediate(op, 64, x, value);
      Expect(immediate, StrCat(op.name, " ", NameOf(x, 64), ", ", value));
    });
  }
  Try([&] {
    const Gpr x = General(), y = General(), z = General();
    Assembler by_number, by_register, push, pop, call, short_move, long_move, negative;
    by_number.ShiftImmediate(kSarImm, 64, x, 7);
    Expect(by_number, StrCat("sar ", NameOf(x, 64), ", 7"));
    by_register.ShiftBy(kShrx, 64, x, y, z);
    Expect(by_register, StrCat("shrx ", NameOf(x, 64), ", ", NameOf(y, 64), ", ", NameOf(z, 64)));
    push.Push(x);
    Expect(push, StrCat("push ", NameOf(x, 64)));
    pop.Pop(x);
    Expect(pop, StrCat("pop ", NameOf(x, 64)));
    call.Call(x);
    Expect(call, StrCat("call ", NameOf(x, 64)));
    short_move.MoveImmediate(x, 77);
    Expect(short_move, StrCat("mov ", NameOf(x, 32), ", 77"));
    long_move.MoveImmediate(x, 0x123456789AB);
    Expect(long_move, StrCat("movabs ", NameOf(x, 64), ", ", 0x123456789AB));
    negative.MoveImmediate(x, ~uint64_t{1});
    Expect(negative, StrCat("mov ", NameOf(x, 64), ", -2"));
  });
}

}  // namespace
}  // namespace assay::direct
