complete -c mind-fmt -l from -d 'the input\'s format; by default it is detected from the contents' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''"
complete -c mind-fmt -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-fmt -l diagnostic-format -d 'the format of diagnostics' -r -f -a "text\t''
json\t''"
complete -c mind-fmt -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-fmt -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-fmt -l keep-padding -d 'keep the zero padding of an IR v2 document\'s weights instead of stripping it'
complete -c mind-fmt -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-fmt -l check -d 'write nothing; print what would change, as a diff'
complete -c mind-fmt -l drop-comments -d 'leave comments out, as canonical text has none'
complete -c mind-fmt -s h -l help -d 'Print help'
complete -c mind-fmt -s V -l version -d 'Print version'
