/// Control variables of an MPI, and what is written in its library, by the tools interface of MPI.
#pragma once

#include <map>
#include <mpi.h>
#include <string>

namespace measure {

/// Whole numbers among the control variables.
class Variables {
public:
  Variables();
  ~Variables();
  Variables(const Variables &) = delete;

  /// False: there is no such variable, or it may not be written.
  bool write(const std::string &name, int value);
  bool read(const std::string &name, int &value);

  /// Writes lines on those whose names begin so: "variable NAME VALUE WRITABLE", and for each of
  /// its values that has a name "item NAME VALUE WORDS".
  void print(const std::string &prefix);

private:
  MPI_T_cvar_handle handleOf(const std::string &name);
  std::map<std::string, MPI_T_cvar_handle> handles_;
};

/// Writes lines "text WORDS" on the names and the selection trees that the library of MPICH has.
void printTexts();

} // namespace measure
