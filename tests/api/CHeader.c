// The header is C11, and complete by itself.
#include "colldsl/colldsl.h"

const char *nameOfStatusInC(int status) { return colldsl_status_string((colldsl_status)status); }
