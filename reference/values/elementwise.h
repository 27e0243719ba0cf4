// The loops of element-wise ops: result[i] = f(operands[i]...). Operands of rank 0 stand for all
// elements where the op allows it.
#pragma once

#include "reference/scalar/arithmetic.h"
#include "reference/values/op_context.h"

namespace assay::reference {

template <typename T, typename F>
void MapUnary(const Literal& operand, Literal& result, F f) {
  absl::Span<const T> in = operand.data<T>();
  using R = decltype(f(T{}));
  absl::Span<R> out = result.data<R>();
  const int64_t n = static_cast<int64_t>(out.size());
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}

template <typename T, typename F>
void MapBinary(const Literal& lhs, const Literal& rhs, Literal& result, F f) {
  absl::Span<const T> a = lhs.data<T>(), b = rhs.data<T>();
  using R = decltype(f(T{}, T{}));
  absl::Span<R> out = result.data<R>();
  const int64_t n = static_cast<int64_t>(out.size());
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

// An Op is a class with any of
//   static T Integer(T), T Predicate(T), W Real(W)         (one argument per operand)
// and kWide: true if Real is a function that is evaluated in Wide<T> rather than in Working<T>.
template <typename Op, typename T>
using RealType = std::conditional_t<Op::kWide, Wide<T>, Working<T>>;

// Evaluates Op on T; false when Op has no meaning for T.
template <typename Op, typename T, typename... Operands>
bool EvaluateTyped(Literal& result, const Operands&... operands) {
  auto map = [&](auto f) {
    if constexpr (sizeof...(Operands) == 1) {
      MapUnary<T>(operands..., result, f);
    } else {
      MapBinary<T>(operands..., result, f);
    }
  };
  if constexpr (kIsReal<T>) {
    using W = RealType<Op, T>;
    if constexpr (requires { &Op::template Real<W>; }) {
      map([](auto... x) { return Round<T>(Op::template Real<W>(Widen<W>(x)...)); });
      return true;
    }
  } else if constexpr (kIsPred<T>) {
    if constexpr (requires { &Op::Predicate; }) {
      map([](auto... x) -> bool { return Op::Predicate(x...); });
      return true;
    }
  } else {
    if constexpr (requires { &Op::template Integer<T>; }) {
      map([](auto... x) -> T { return Op::template Integer<T>(x...); });
      return true;
    }
  }
  return false;
}

template <typename Op>
absl::Status EvaluateUnary(const OpContext& op, Literal& result) {
  bool done = false;
  DispatchComputed(op.literal(0).element_type(), [&](auto tag) {
    done = EvaluateTyped<Op, typename decltype(tag)::type>(result, op.literal(0));
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.literal(0).element_type());
}

template <typename Op>
absl::Status EvaluateBinary(const OpContext& op, Literal& result) {
  bool done = false;
  DispatchComputed(op.literal(0).element_type(), [&](auto tag) {
    done = EvaluateTyped<Op, typename decltype(tag)::type>(result, op.literal(0), op.literal(1));
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.literal(0).element_type());
}

}  // namespace assay::reference
