#compdef mind-fmt

autoload -U is-at-least

_mind-fmt() {
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
'--from=[the input'\''s format; by default it is detected from the contents]:FORMAT:(mic1 mic2 core mil mil-primer)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[the format of diagnostics]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[keep the zero padding of an IR v2 document'\''s weights instead of stripping it]' \
'--quiet[suppress notes, warnings and progress]' \
'--check[write nothing; print what would change, as a diff]' \
'--drop-comments[leave comments out, as canonical text has none]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::FILE -- the modules and `.rules` files; standard input, whose canonical form is printed, if none is given or for `-`:_default' \
&& ret=0
}

(( $+functions[_mind-fmt_commands] )) ||
_mind-fmt_commands() {
    local commands; commands=()
    _describe -t commands 'mind-fmt commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-fmt" ]; then
    _mind-fmt "$@"
else
    compdef _mind-fmt mind-fmt
fi
