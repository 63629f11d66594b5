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
'--test=[what is interesting\: a file for which CMD exits with 0, a crash of the passes or of the engine that is named (\`@crash\`), or results of the passes'\'' output that differ from those of their input (\`@differs\`)]:CMD|@crash|@differs:_default' \
'-o+[write there, not to standard output; its extension selects the format]:OUT:_default' \
'--to=[the output'\''s format; by default that of the extension of -o, else the input'\''s format or Core text]:FORMAT:(mic1 mic2 core mil mil-primer)' \
'--trials=[how often the test is made at most]:N:_default' \
'--time-limit=[how long CMD, or passes and engine, may take for one module]:SECONDS:_default' \
'--memory-limit=[memory that they may take for one module; K, M, G for KiB, ...]:SIZE:_default' \
'(-O)--pass-pipeline=[the passes that are suspected, as text; those of -O2 where nothing is said]:TEXT:_default' \
'-O+[a named pipeline]:LEVEL:(0 1 2 3)' \
'--engine=[what runs the passes'\'' output\: for \`@differs\` the interpreter unless given, for \`@crash\` nothing; with \`jit\` no passes run where nothing is said]:ENGINE:(interp jit)' \
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
