complete -c mind-fmt -l from -d 'the input\'s format, instead of telling it from the content' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''"
complete -c mind-fmt -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-fmt -l diagnostic-format -d 'how errors are shown' -r -f -a "text\t''
json\t''"
complete -c mind-fmt -l color -d 'colour diagnostics; `auto` does on a terminal, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM ask for' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-fmt -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-fmt -l keep-padding -d 'compute with the padding of an IR v2 document\'s weights, which holds zeros, instead of cutting it off'
complete -c mind-fmt -l quiet -d 'print neither notes, nor warnings, nor progress'
complete -c mind-fmt -l check -d 'write nothing; print what would change, as a diff'
complete -c mind-fmt -l drop-comments -d 'leave comments out, as canonical text has none'
complete -c mind-fmt -s h -l help -d 'Print help'
complete -c mind-fmt -s V -l version -d 'Print version'
