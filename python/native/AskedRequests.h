/// Requests from keyword arguments.
#pragma once

#include "python/native/Errors.h"

#include "driver/RequestFields.h"

#include <string>
#include <vector>

namespace colldsl::python {

/// Keywords of a request's fields, each with the text of its value.
using Keywords = std::vector<std::pair<std::string, std::string>>;

/// A request as Python holds it.
template <driver::Request T> struct Asked {
  T request;
  driver::Fields fields; ///< of the request, which know what was given
  std::string warnings;  ///< about the machine that it names

  /// Raises ArgumentError for a mistake in a value, ProgramError for one in a file. Needs the GIL.
  explicit Asked(const Keywords &keywords) {
    request.addTo(fields);
    for (const auto &[keyword, value] : keywords)
      if (Status s = fields.set(keyword, value); !s)
        raise("ArgumentError", s.message());
    driver::SinkText messages;
    if (Status s = fields.check(messages); !s) {
      messages.error(s.diagnostic());
      raise("ProgramError", messages.text());
    }
    warnings = messages.text();
  }
  Asked(const Asked &) = delete;
  Asked &operator=(const Asked &) = delete;
  bool operator==(const Asked &other) const { return request == other.request; }
};

/// Adds the class of such requests to the module.
template <typename T> void addRequest(py::module_ &module, const char *name) {
  py::class_<Asked<T>>(module, name)
      .def(py::init<const Keywords &>())
      .def("__eq__", [](const Asked<T> &a, const Asked<T> &b) { return a == b; })
      .def("__str__", [](const Asked<T> &asked) { return driver::textOf(asked.request); });
}

} // namespace colldsl::python
