/// The memory of a Python object, without a copy: by the buffer protocol, by DLPack, or by
/// __cuda_array_interface__.
#pragma once

#include "python/native/Errors.h"

#include "ir/Vocabulary.h"

#include <memory>

namespace colldsl::python {

/// Keeps the object's memory where it is as long as this lives. Made and destroyed with the GIL.
class Memory {
public:
  /// Raises ArgumentError, which begins with the buffer's name: the object has no memory of the CPU
  /// or of CUDA, its elements are of no type of colldsl, they do not lie side by side, or they are
  /// read-only and `isWritten`.
  Memory(py::object object, const std::string &buffer, bool isWritten);

  void *data() const { return data_; }
  uint64_t bytes() const { return elements_ * sizeBytes(type_); }
  uint64_t elements() const { return elements_; }
  ElementType type() const { return type_; }
  bool isWritable() const { return isWritable_; }
  bool isOnDevice() const { return isOnDevice_; } ///< memory of a device of CUDA

private:
  void takeBuffer(const std::string &buffer);
  void takeDlpack(const std::string &buffer);
  void takeCudaArray(const std::string &buffer);

  py::object object_;
  std::shared_ptr<void> owner_; ///< of the view, or of the tensor
  void *data_ = nullptr;
  uint64_t elements_ = 0;
  ElementType type_ = ElementType::U8;
  bool isWritable_ = false;
  bool isOnDevice_ = false;
};

} // namespace colldsl::python
