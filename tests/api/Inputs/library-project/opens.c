/* Opens the schedule library that it was linked with. */
#include "colldsl/colldsl.h"

#include <stdio.h>

int main(void) {
  colldsl_context *context;
  colldsl_library *library;
  if (colldsl_context_create(NULL, &context) ||
      colldsl_library_open(context, SHIFT_CDAG, &library)) {
    fprintf(stderr, "opens: %s\n", colldsl_last_error());
    return 1;
  }
  printf("opened %s\n", SHIFT_CDAG);
  colldsl_library_close(library);
  colldsl_context_destroy(context);
  return 0;
}
