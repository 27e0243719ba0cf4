// A value that copies share and that is compared by content: attributes that are large but rare.
#pragma once

#include <memory>
#include <utility>

namespace assay {

template <typename T>
class SharedValue {
 public:
  SharedValue() : value_(Default()) {}
  SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  bool operator==(const SharedValue& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

 private:
  static const std::shared_ptr<const T>& Default() {
    static const auto& value = *new std::shared_ptr<const T>(std::make_shared<const T>());
    return value;
  }
  std::shared_ptr<const T> value_;
};

}  // namespace assay
