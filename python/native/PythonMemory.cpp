#include "python/native/PythonMemory.h"

#include "ir/Concat.h"

#include <optional>

namespace colldsl::python {
namespace {

// The structures in a capsule "dltensor" of DLPack (dmlc/dlpack, include/dlpack/dlpack.h, version
// 0.8).
struct DlDevice {
  int32_t type;
  int32_t id;
};
struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void *data;
  DlDevice device;
  int32_t dims;
  DlType type;
  int64_t *shape;
  int64_t *strides; ///< in elements; null: row after row
  uint64_t byteOffset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void *context;
  void (*deleter)(DlManagedTensor *self);
};
constexpr int32_t kDlCpu = 1;
enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2 };

[[noreturn]] void refuse(const std::string &buffer, const std::string &why) {
  raise("ArgumentError", concat("buffer '", buffer, "': ", why));
}

enum class Kind { Signed, Unsigned, Float };

std::optional<ElementType> typeOf(Kind kind, uint64_t bytes) {
  switch (bytes) {
  case 1:
    return kind == Kind::Float
               ? std::nullopt
               : std::optional(kind == Kind::Signed ? ElementType::I8 : ElementType::U8);
  case 2:
    return kind == Kind::Float
               ? std::nullopt
               : std::optional(kind == Kind::Signed ? ElementType::I16 : ElementType::U16);
  case 4:
    return kind == Kind::Float    ? ElementType::F32
           : kind == Kind::Signed ? ElementType::I32
                                  : ElementType::U32;
  case 8:
    return kind == Kind::Float    ? ElementType::F64
           : kind == Kind::Signed ? ElementType::I64
                                  : ElementType::U64;
  }
  return std::nullopt;
}

/// The element type for a format of Python's module `struct`.
std::optional<ElementType> typeOf(std::string_view format, uint64_t bytes) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.remove_prefix(1);
  if (format.size() != 1)
    return std::nullopt;
  if (std::string_view("bhilq").find(format[0]) != format.npos)
    return typeOf(Kind::Signed, bytes);
  if (std::string_view("BHILQ").find(format[0]) != format.npos)
    return typeOf(Kind::Unsigned, bytes);
  if (std::string_view("fd").find(format[0]) != format.npos)
    return typeOf(Kind::Float, bytes);
  return std::nullopt;
}

std::optional<ElementType> typeOf(const DlType &type) {
  if (type.lanes != 1 || type.bits % 8 != 0)
    return std::nullopt;
  switch (type.code) {
  case kDlInt:
    return typeOf(Kind::Signed, type.bits / 8);
  case kDlUInt:
    return typeOf(Kind::Unsigned, type.bits / 8);
  case kDlFloat:
    return typeOf(Kind::Float, type.bits / 8);
  }
  return std::nullopt;
}

uint64_t elementsOf(const DlTensor &tensor) {
  uint64_t elements = 1;
  for (int32_t i = 0; i < tensor.dims; ++i)
    elements *= static_cast<uint64_t>(tensor.shape[i]);
  return elements;
}

bool isContiguous(const DlTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t next = 1;
  for (int32_t i = tensor.dims; i-- > 0; next *= tensor.shape[i])
    if (tensor.shape[i] != 1 && tensor.strides[i] != next)
      return false;
  return true;
}

} // namespace

Memory::Memory(py::object object, const std::string &buffer, bool isWritten)
    : object_(std::move(object)) {
  if (PyObject_CheckBuffer(object_.ptr()))
    takeBuffer(buffer);
  else if (py::hasattr(object_, "__dlpack__"))
    takeDlpack(buffer);
  else
    refuse(buffer, concat("an object of type '", Py_TYPE(object_.ptr())->tp_name,
                          "' has no memory of numbers: neither the buffer protocol nor DLPack"));
  if (isWritten && !isWritable_)
    refuse(buffer, "the array is read-only, and the collective writes it");
}

void Memory::takeBuffer(const std::string &buffer) {
  auto *view = new Py_buffer;
  if (PyObject_GetBuffer(object_.ptr(), view, PyBUF_FULL_RO) != 0) {
    delete view;
    throw py::error_already_set();
  }
  owner_.reset(view, [](Py_buffer *v) {
    PyBuffer_Release(v);
    delete v;
  });
  std::string format = view->format ? view->format : "B";
  auto itemBytes = static_cast<uint64_t>(view->itemsize);
  std::optional<ElementType> type = typeOf(format, itemBytes);
  if (!type)
    refuse(buffer, concat("no type of elements stands for the format '", format, "' of ", itemBytes,
                          " bytes"));
  if (!PyBuffer_IsContiguous(view, 'C'))
    refuse(buffer, "the array is not contiguous");
  data_ = view->buf;
  elements_ = static_cast<uint64_t>(view->len) / itemBytes;
  type_ = *type;
  isWritable_ = !view->readonly;
}

// An object that is read-only refuses to be exported.
void Memory::takeDlpack(const std::string &buffer) {
  std::pair<int32_t, int32_t> device;
  try {
    device = object_.attr("__dlpack_device__")().cast<std::pair<int32_t, int32_t>>();
  } catch (const py::cast_error &) {
    refuse(buffer, "__dlpack_device__() returned no pair of ints");
  }
  if (device.first != kDlCpu)
    refuse(buffer, concat("the array is in the memory of a device (DLPack's type ", device.first,
                          ", device ", device.second, "), not of the CPU"));
  py::object capsule = object_.attr("__dlpack__")();
  if (!PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    refuse(buffer, "__dlpack__() returned no capsule 'dltensor'");
  auto *managed = static_cast<DlManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  owner_.reset(managed, [](DlManagedTensor *m) {
    if (m->deleter)
      m->deleter(m);
  });
  const DlTensor &tensor = managed->tensor;
  std::optional<ElementType> type = typeOf(tensor.type);
  if (!type)
    refuse(buffer,
           concat("no type of elements stands for DLPack's type ", int{tensor.type.code}, " of ",
                  int{tensor.type.bits}, " bits and ", tensor.type.lanes, " lanes"));
  if (!isContiguous(tensor))
    refuse(buffer, "the array is not contiguous");
  data_ = static_cast<char *>(tensor.data) + tensor.byteOffset;
  elements_ = elementsOf(tensor);
  type_ = *type;
  isWritable_ = true;
}

} // namespace colldsl::python
