// A program and the name of the library of the standard ABI, for what looks at programs: no MPI.
int MPI_Init(int *argc, char ***argv);
#ifdef STUB_LIBRARY
int MPI_Init(int *argc, char ***argv) { return !argc || !argv; }
#else
int main(int argc, char **argv) { return MPI_Init(&argc, &argv); }
#endif
