#compdef mind-reduce

autoload -U is-at-least

_mind-reduce() {
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
'--from=[the input'\''s format; by default it is detected from the contents]:FORMAT:(mic1 mic2 core mil mil-primer stablehlo irv2)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[the format of diagnostics]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'--test=[the interestingness test\: CMD exits with 0 for the file, the passes or the given engine crash (\`@crash\`), or the results of the passes'\'' output differ from those of their input (\`@differs\`)]:CMD|@crash|@differs:_default' \
'-o+[write there, not to standard output; its extension selects the format]:OUT:_default' \
'--to=[the output'\''s format; by default that of the extension of -o, else the input'\''s format or Core text]:FORMAT:(mic1 mic2 core mil mil-primer)' \
'--trials=[the maximal number of tests]:N:_default' \
'--time-limit=[the time limit of CMD, or of passes and engine, for one module]:SECONDS:_default' \
'--memory-limit=[the memory limit of passes and engine for one module; K, M, G for KiB, ...]:SIZE:_default' \
'(-O)--pass-pipeline=[the passes to run, as text; by default those of -O2]:TEXT:_default' \
'-O+[a named pipeline]:LEVEL:(0 1 2 3)' \
'--engine=[the engine that runs the passes'\'' output\: by default the interpreter for \`@differs\`, and none for \`@crash\`; with \`jit\` no passes run by default]:ENGINE:(interp jit)' \
'*--rules=[also use the rules of this file; may be repeated]:FILE:_default' \
'*--fast-math=[enable rules of these classes, which may change results; all classes if none is named]::CLASS,...:(nsz nnan reassoc approx)' \
'*--only-rule=[disable all rules and patterns but these]:NAME,...:_default' \
'*--disable-rule=[disable these rules and patterns]:NAME,...:_default' \
'*--allow-unchecked-rule=[enable these rules although they could not be checked]:NAME,...:_default' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[keep the zero padding of an IR v2 document'\''s weights instead of stripping it]' \
'--quiet[suppress notes, warnings and progress]' \
'--bisect[name the first rewrite that makes the passes'\'' output interesting; CMD is given that output]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'::FILE -- the module; standard input if it is `-` or not given:_default' \
&& ret=0
}

(( $+functions[_mind-reduce_commands] )) ||
_mind-reduce_commands() {
    local commands; commands=()
    _describe -t commands 'mind-reduce commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-reduce" ]; then
    _mind-reduce "$@"
else
    compdef _mind-reduce mind-reduce
fi
