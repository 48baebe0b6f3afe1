/// Runs the work for requests on behalf of Python: without the GIL, with their messages as
/// exceptions, and Ctrl-C to end them.
#pragma once

#include "python/native/Errors.h"

#include "driver/Session.h"
#include "driver/Watch.h"

#include <functional>
#include <mutex>

namespace colldsl::python {

/// The lock and the messages of what Python holds.
struct Workplace {
  std::timed_mutex mutex;
  driver::SinkText messages;
  driver::Session session{messages};
};

/// The end of some work. With an error class, it failed for the reasons in its messages and in
/// `why`.
struct Ended {
  const char *errorClass = nullptr; ///< null: it succeeded
  std::string why = {};

  static Ended failed(const std::string &why = "") { return {"ProgramError", why}; }
  static Ended misused(const std::string &why) { return {"ArgumentError", why}; }
  /// After a choice: `refusal` is empty if a mistake was reported.
  static Ended unchosen(const std::string &refusal) {
    return refusal.empty() ? failed() : misused(refusal);
  }
};

/// Runs the body in a thread of its own, while holding the locks of all `places`. Raises the
/// messages of the body if it failed, else returns them. Ctrl-C stops the watch; once the body has
/// ended, KeyboardInterrupt is raised. Progress goes to colldsl._progress.show(). Needs the GIL,
/// and releases it meanwhile.
std::string work(const std::vector<Workplace *> &places,
                 const std::function<Ended(const driver::Watch &watch)> &body);

} // namespace colldsl::python
