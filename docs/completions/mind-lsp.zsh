#compdef mind-lsp

autoload -U is-at-least

_mind-lsp() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'--stdio[the transport, which is the only one]' \
'--quiet[suppress notes, warnings and progress]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_mind-lsp_commands] )) ||
_mind-lsp_commands() {
    local commands; commands=()
    _describe -t commands 'mind-lsp commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-lsp" ]; then
    _mind-lsp "$@"
else
    compdef _mind-lsp mind-lsp
fi
