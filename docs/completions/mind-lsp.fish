complete -c mind-lsp -l stdio -d 'the transport, which is the only one'
complete -c mind-lsp -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mind-lsp -s V -l version -d 'Print version'
