/// Control variables of an MPI, by its tools interface (MPI_T), and texts in its library.
#pragma once

#include <map>
#include <mpi.h>
#include <string>

namespace measure {

/// The integer control variables.
class Variables {
public:
  Variables();
  ~Variables();
  Variables(const Variables &) = delete;

  /// False: there is no such variable, or it may not be written.
  bool write(const std::string &name, int value);
  bool read(const std::string &name, int &value);

  /// Writes lines about the variables with the prefix: "variable NAME VALUE WRITABLE", and for each
  /// named value of one "item NAME VALUE WORDS".
  void print(const std::string &prefix);

private:
  MPI_T_cvar_handle handleOf(const std::string &name);
  std::map<std::string, MPI_T_cvar_handle> handles_;
};

/// Writes lines "text WORDS" with the names and the selection trees in the library of MPICH.
void printTexts();

} // namespace measure
