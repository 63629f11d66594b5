complete -c mind-lsp -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-lsp -l stdio -d 'the transport, which is the only one'
complete -c mind-lsp -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-lsp -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mind-lsp -s V -l version -d 'Print version'
