# The manual pages and the completion scripts, as the program prints them: cmake -D TOOL=PROGRAM
# -D COMMANDS=tools/Commands.def -D DIR=FOLDER -P Pages.cmake
function(print file)
  execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_FILE ${DIR}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(folder IN ITEMS man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
  file(MAKE_DIRECTORY ${DIR}/${folder})
endforeach()
print(man/man1/colldsl.1 man)
file(STRINGS ${COMMANDS} rows REGEX "^COLLDSL_COMMAND\\(")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^COLLDSL_COMMAND\\(\"([^\"]*)\".*" "\\1" name "${row}")
  print(man/man1/colldsl-${name}.1 man ${name})
endforeach()
print(bash-completion/completions/colldsl completion bash)
print(zsh/site-functions/_colldsl completion zsh)
print(fish/vendor_completions.d/colldsl.fish completion fish)
