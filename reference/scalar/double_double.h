// A sum of doubles kept in two of them, so that its own error is negligible beside that of any
// order of additions in double.
#pragma once

#include <cmath>

namespace assay::reference {

class DoubleDouble {
 public:
  explicit DoubleDouble(double value = 0) : high_(value) {}
  void Add(double x) {
    const double sum = high_ + x;
    const double part = sum - high_;
    const double error = (high_ - (sum - part)) + (x - part);
    high_ = sum;
    if (std::isfinite(error)) low_ += error;
  }
  void AddProduct(double a, double b) {
    const double product = a * b;
    const double error = std::fma(a, b, -product);
    Add(product);
    if (std::isfinite(error)) low_ += error;
  }
  double Rounded() const { return std::isfinite(high_) && low_ != 0 ? high_ + low_ : high_; }

 private:
  double high_;
  double low_ = 0;
};

}  // namespace assay::reference
