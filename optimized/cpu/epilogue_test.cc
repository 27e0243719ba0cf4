// A dot's kernel makes of its sums the bits that a kernel behind it makes: drawn modules, compiled
// with that decision and without it.
#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Draws a dot, of which lines are whole vectors or not, and a few ops behind it.
class ModuleDrawer {
 public:
  explicit ModuleDrawer(uint32_t seed) : generator_(seed) {}

  std::string Draw() {
    type_ = OneOf<std::string>({"f32", "f32", "f64", "bf16", "f16", "s32"});
    const int m = OneOf({24, 33, 64, 192}), n = OneOf({16, 50, 64, 128, 272, 1088});
    const int k = OneOf({32, 70, 400});
    const bool has_batch = OneOf({0, 0, 1}) == 1, is_turned = OneOf({0, 0, 1}) == 1;
    const std::string batch = has_batch ? "3," : "";
    result_ = StrCat(type_, "[", batch, is_turned ? n : m, ",", is_turned ? m : n, "]");
    const std::string dims = has_batch ? "lhs_batch_dims={0}, rhs_batch_dims={0}, "
                                         "lhs_contracting_dims={2}, rhs_contracting_dims={1}"
                                       : "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    text_ =
        StrCat("HloModule m\nENTRY e {\n  x = ", type_, "[", batch, m, ",", k, "] parameter(0)\n",
               "  y = ", type_, "[", batch, k, ",", n, "] parameter(1)\n",  //
               "  z = ", result_, " parameter(2)\n",                        //
               "  v = ", type_, "[", is_turned ? m : n, "] parameter(3)\n", "  dot = ", type_, "[",
               batch, m, ",", n, "] dot(x, y), ", dims, "\n");
    last_ = "dot";
    if (is_turned) Add("transpose", "", has_batch ? ", dimensions={0,2,1}" : ", dimensions={1,0}");
    const int ops = OneOf({1, 2, 4, 6});
    for (int op = 0; op < ops; ++op) AddOp(has_batch ? 2 : 1);
    return StrCat(text_, "  ROOT r = ", result_, " add(", last_, ", z)\n}\n");
  }

  Literal Argument(const Shape& shape) {
    Literal literal(shape);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      const double number = normal(generator_);
      if (IsInteger(shape.element_type())) {
        literal.SetInteger(i, static_cast<int64_t>(number * 1000));
      } else {
        literal.SetDouble(i, number);
      }
    }
    return literal;
  }

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[generator_() % values.size()];
  }

  void Add(const std::string& op, const std::string& other, const std::string& attributes = "") {
    const std::string name = StrCat("o", ++count_);
    text_ += StrCat("  ", name, " = ", result_, " ", op, "(", last_, other.empty() ? "" : ", ",
                    other, ")", attributes, "\n");
    last_ = name;
  }

  // A broadcast of `of`, of which it returns the name.
  std::string Spread(const std::string& of, const std::string& dims) {
    const std::string name = StrCat("b", ++count_);
    text_ += StrCat("  ", name, " = ", result_, " broadcast(", of, "), dimensions={", dims, "}\n");
    return name;
  }

  void AddOp(int innermost) {
    switch (generator_() % 4) {
      case 0:
        Add(type_ == "s32" ? "not" : OneOf<std::string>({"tanh", "logistic", "exponential"}), "");
        break;
      case 1:
        Add("add", Spread("v", StrCat(innermost)));
        break;
      case 2:
        Add(OneOf<std::string>({"subtract", "multiply", "maximum"}), "z");
        break;
      default:
        const std::string two = StrCat("c", ++count_);
        text_ += StrCat("  ", two, " = ", type_, "[] constant(2)\n");
        Add("minimum", Spread(two, ""));
    }
  }

  std::mt19937 generator_;
  std::string type_, result_, text_, last_;
  int count_ = 0;
};

bool MakesEpilogue(const Executable& executable) {
  return absl::c_any_of(executable.decisions(), [](const Decision& decision) {
    return decision.rule == "fuse-epilogue" && decision.taken;
  });
}

TEST(Epilogue, HasTheBitsOfAKernelBehindTheDot) {
  constexpr uint32_t kModules = 60;
  int with_epilogue = 0;
  for (uint32_t seed = 1; seed <= kModules; ++seed) {
    ModuleDrawer drawer(seed);
    const std::string text = drawer.Draw();
    SCOPED_TRACE(text);
    const std::unique_ptr<Module> module = MustRead(text);
    ASSERT_NE(module, nullptr);
    std::vector<Literal> arguments;
    for (const Instruction* parameter : module->entry()->parameters()) {
      arguments.push_back(drawer.Argument(parameter->shape()));
    }
    const std::string machine = StrCat("threads=", seed % 3 + 1, ",isa=",
                                       seed % 4 == 0   ? "avx2"
                                       : seed % 4 == 1 ? "baseline"
                                                       : "host");
    const std::unique_ptr<Backend> fused = MakeCpu(machine);
    const auto executable = fused->Compile(*module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    with_epilogue += MakesEpilogue(**executable) ? 1 : 0;
    const std::unique_ptr<Backend> apart = MakeCpu(machine + ",refuse=fuse-epilogue");
    EXPECT_TRUE(
        RunModule(*fused, *module, arguments).BitwiseEqual(RunModule(*apart, *module, arguments)));
  }
  EXPECT_GE(with_epilogue, 40);
}

}  // namespace
}  // namespace assay
