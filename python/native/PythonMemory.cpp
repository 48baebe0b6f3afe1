#include "python/native/PythonMemory.h"

#include "ir/Concat.h"
#include "ir/SmallFloat.h"

#include <algorithm>
#include <complex>
#include <optional>
#include <pybind11/stl.h>

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
constexpr int32_t kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3;
enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2, kDlComplex = 5 };

[[noreturn]] void refuse(const std::string &buffer, const std::string &why) {
  raise("ArgumentError", concat("buffer '", buffer, "': ", why));
}

struct TableType {
  std::string_view numpy;
  uint64_t code, bytes; ///< DLPack's
};
constexpr TableType kTypes[] = {
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, numpy, dlpack, ...)                      \
  {numpy, dlpack, sizeof(CppType)},
#include "ir/Vocabulary.def"
};

template <typename Matches> std::optional<ElementType> findType(Matches matches) {
  const auto *found = std::find_if(std::begin(kTypes), std::end(kTypes), matches);
  return found != std::end(kTypes) ? std::optional(static_cast<ElementType>(found - kTypes))
                                   : std::nullopt;
}

std::optional<ElementType> typeOf(uint64_t code, uint64_t bytes) {
  return findType([=](const TableType &type) { return type.code == code && type.bytes == bytes; });
}

/// The element type for a format of Python's module `struct`, or of NumPy.
std::optional<ElementType> typeOf(std::string_view format, uint64_t bytes) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.remove_prefix(1);
  if (format == "Zf" || format == "Zd")
    return typeOf(kDlComplex, bytes);
  if (format.size() != 1)
    return std::nullopt;
  if (std::string_view("bhilq").find(format[0]) != format.npos)
    return typeOf(kDlInt, bytes);
  if (std::string_view("BHILQ").find(format[0]) != format.npos)
    return typeOf(kDlUInt, bytes);
  return std::string_view("efd").find(format[0]) != format.npos ? typeOf(kDlFloat, bytes)
                                                                : std::nullopt;
}

std::optional<ElementType> typeOf(const DlType &type) {
  if (type.lanes != 1 || type.bits % 8 != 0)
    return std::nullopt;
  return typeOf(type.code, type.bits / 8);
}

/// The element type of an array whose dtype is an extension of NumPy, such as those of ml_dtypes,
/// which have no format of a buffer.
std::optional<ElementType> namedType(const py::object &array) {
  if (!py::hasattr(array, "dtype") || !py::hasattr(array.attr("dtype"), "name"))
    return std::nullopt;
  std::string name = py::str(array.attr("dtype").attr("name"));
  return findType([&](const TableType &type) { return type.numpy == name; });
}

std::shared_ptr<Py_buffer> viewOf(const py::object &object) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_FULL_RO) != 0)
    throw py::error_already_set();
  return {view.release(), [](Py_buffer *v) {
            PyBuffer_Release(v);
            delete v;
          }};
}

uint64_t elementsOf(const DlTensor &tensor) {
  uint64_t elements = 1;
  for (int32_t i = 0; i < tensor.dims; ++i)
    elements *= static_cast<uint64_t>(tensor.shape[i]);
  return elements;
}

bool isContiguous(const DlTensor &tensor) {
  if (!tensor.strides || elementsOf(tensor) == 0)
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
  else if (py::hasattr(object_, "__cuda_array_interface__"))
    takeCudaArray(buffer);
  else
    refuse(buffer, concat("an object of type '", Py_TYPE(object_.ptr())->tp_name,
                          "' has no memory of numbers: none of the buffer protocol, DLPack and "
                          "__cuda_array_interface__"));
  if (isWritten && !isWritable_)
    refuse(buffer, "the array is read-only, and the collective writes it");
}

void Memory::takeBuffer(const std::string &buffer) {
  std::optional<ElementType> named;
  std::shared_ptr<Py_buffer> view;
  try {
    view = viewOf(object_);
  } catch (const py::error_already_set &) {
    named = namedType(object_);
    if (!named)
      throw;
    object_ = object_.attr("view")(concat("u", sizeBytes(*named)));
    view = viewOf(object_);
  }
  owner_ = view;
  std::string format = view->format ? view->format : "B";
  auto itemBytes = static_cast<uint64_t>(view->itemsize);
  std::optional<ElementType> type = named ? named : typeOf(format, itemBytes);
  if (!type)
    refuse(buffer, concat("no type of elements stands for the format '", format, "' of ", itemBytes,
                          " bytes"));
  if (!PyBuffer_IsContiguous(view.get(), 'C'))
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
  isOnDevice_ = device.first == kDlCuda;
  if (!isOnDevice_ && device.first != kDlCpu && device.first != kDlCudaHost)
    refuse(buffer, concat("the array is in the memory of a device (DLPack's type ", device.first,
                          ", device ", device.second, "), neither of the CPU nor of CUDA"));
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

// Version 3 of the interface, as the documentation of Numba has it. The object stays alive as long
// as this does, and the memory with it.
void Memory::takeCudaArray(const std::string &buffer) {
  auto stays = [&](auto read) {
    try {
      return read();
    } catch (const py::cast_error &) {
      refuse(buffer, "its __cuda_array_interface__ has values of other types than it should");
    } catch (const py::error_already_set &error) {
      if (!error.matches(PyExc_KeyError) && !error.matches(PyExc_TypeError))
        throw;
      refuse(buffer, "its __cuda_array_interface__ is not complete");
    }
  };
  struct Array {
    uint64_t data;
    bool isReadOnly;
    std::vector<int64_t> shape;
    std::optional<std::vector<int64_t>> strides;
    std::string type;
    bool hasMask;
  };
  Array array = stays([&] {
    py::dict fields = object_.attr("__cuda_array_interface__");
    auto [data, isReadOnly] = fields["data"].cast<std::pair<uint64_t, bool>>();
    auto optional = [&](const char *name) {
      return fields.contains(name) ? py::object(fields[name]) : py::object(py::none());
    };
    return Array{data,
                 isReadOnly,
                 fields["shape"].cast<std::vector<int64_t>>(),
                 optional("strides").cast<std::optional<std::vector<int64_t>>>(),
                 fields["typestr"].cast<std::string>(),
                 !optional("mask").is_none()};
  });
  std::optional<ElementType> type;
  uint64_t itemBytes = 0;
  if (array.type.size() >= 3 && array.type.find_first_not_of("0123456789", 2) == array.type.npos &&
      array.type.size() <= 4 && (array.type[0] == '<' || array.type[0] == '|')) {
    itemBytes = std::stoul(array.type.substr(2));
    size_t kind = std::string_view("iufc").find(array.type[1]);
    constexpr DlCode codes[] = {kDlInt, kDlUInt, kDlFloat, kDlComplex};
    if (kind != std::string_view::npos)
      type = typeOf(codes[kind], itemBytes);
  }
  if (!type)
    refuse(buffer, concat("no type of elements stands for the typestr '", array.type, "'"));
  if (array.hasMask)
    refuse(buffer, "the array has a mask");
  auto next = static_cast<int64_t>(itemBytes);
  elements_ = 1;
  bool isContiguous = !array.strides || array.strides->size() == array.shape.size();
  for (size_t i = array.shape.size(); i-- > 0; next *= array.shape[i]) {
    isContiguous &=
        !array.strides || array.shape[i] == 1 || (isContiguous && (*array.strides)[i] == next);
    if (array.shape[i] < 0 ||
        __builtin_mul_overflow(elements_, static_cast<uint64_t>(array.shape[i]), &elements_))
      refuse(buffer, "the shape of the array is not one of memory");
  }
  if (!isContiguous && elements_ > 0)
    refuse(buffer, "the array is not contiguous");
  data_ = reinterpret_cast<void *>(array.data);
  type_ = *type;
  isWritable_ = !array.isReadOnly;
  isOnDevice_ = true;
}

} // namespace colldsl::python
