#compdef mind-opt

autoload -U is-at-least

_mind-opt() {
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
'--from=[the input'\''s format; by default it is detected from the contents]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx stablehlo irv2)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[the format of diagnostics]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'*--dim=[the extent of a symbolic dimension of an ONNX or StableHLO module]:NAME=EXTENT:_default' \
'*--bind=[replace an input of an ONNX or StableHLO module by a constant\: the array of that name in the archive]:NAME=FILE.npz:_default' \
'--to=[the output'\''s format; by default that of the extension of -o, else the input'\''s format or Core text]:FORMAT:(mic1 mic2 core mil mil-primer onnx)' \
'-o+[write there, not to standard output; its extension selects the format]:OUT:_default' \
'--ane-report=[print, instead of the module, which of its MIL ops run on the neural engine, and why]::FORM:(text json)' \
'(--bind)--diff=[print the structural diff of the modules OLD and FILE, and exit with 1 if they differ]:OLD:_default' \
'--opset=[the opset version of a written ONNX model, 21 by default]:N:_default' \
'*--verify=[Checks all rules of all ops; tools also do this when they read a module]::OPTIONS:_default' \
'*--canonicalize=[Folds constants, removes dead ops, applies identities that are exact in IEEE arithmetic, merges chains of transposes and reshapes, orders commutative operands, replaces \`?\` by constant extents, writes out defaults and types]::NAME=VALUE ...:_default' \
'*--canonicalise=[Folds constants, removes dead ops, applies identities that are exact in IEEE arithmetic, merges chains of transposes and reshapes, orders commutative operands, replaces \`?\` by constant extents, writes out defaults and types]::NAME=VALUE ...:_default' \
'*--channels-last=[Converts convolutions to the channels-last layout and moves the added transposes towards the outputs, with rules of the e-graph, so that fold and fuse find good forms of convolutional networks early]::OPTIONS:_default' \
'*--cse=[Merges ops of the same kind with equal operands, attributes and bodies]::OPTIONS:_default' \
'*--dce=[Removes ops, and results of fused ops, that no output depends on; keeps inputs, because they are part of the interface]::OPTIONS:_default' \
'*--simplify=[Alternates canonicalize and cse until cse merges nothing, because merged operands allow simplifications, which make more ops equal]::OPTIONS:_default' \
'*--renumber=[Moves inputs to the front and numbers all values from 0 in text order]::OPTIONS:_default' \
'*--specialize=[Replaces symbolic dimensions, and \`?\` in inputs, by numbers]::NAME=VALUE ...:_default' \
'*--unroll=[Inlines the region of an \`If\` with a constant predicate, and the steps of a \`Scan\` with a small trip count]::NAME=VALUE ...:_default' \
'*--quantize-activations=[Replaces matrix products with block-quantised weights by integer products\: the rows of the other operand are quantised to 8 bits, and weights are passed as bytes. Changes results]::OPTIONS:_default' \
'*--fold=[Replaces values by cheaper equal ones, found by rules in an e-graph and chosen by cost]::NAME=VALUE ...:_default' \
'*--fuse=[Gathers ops into fused ones with a body, where that saves launches or memory traffic]::NAME=VALUE ...:_default' \
'*--unfuse=[Puts the bodies of fused ops back in line, the inverse of fuse]::OPTIONS:_default' \
'*--lower-to-tensor=[Lowers core ops to the tensor dialect\: explicit broadcasts, arithmetic as maps, fused ops as groups; constants and inputs are kept]::NAME=VALUE ...:_default' \
'*--lower-to-loops=[Lowers to kernels over tiled loops\: groups become one kernel if possible, layout-only ops become views, results get offsets in the workspace; core ops are lowered to the tensor dialect first]::NAME=VALUE ...:_default' \
'*--lower-to-mil=[Lowers core and tensor ops to the mil dialect\: halves for floats, constants cast once, ops without a MIL form reported by name]::NAME=VALUE ...:_default' \
'*--import-mil=[Turns the function of a MIL program into core and tensor ops, which every other pass takes; refuses ops without a counterpart by name]::OPTIONS:_default' \
'(-O)--pass-pipeline=[the passes as text\: \`canonicalize,cse\`, options in braces]:TEXT:_default' \
'-O+[the pipeline of an optimisation level, with passes before and after it; results stay bit-identical]:LEVEL:(0 1 2 3)' \
'*--rules=[also use the rules of this file; may be repeated]:FILE:_default' \
'*--fast-math=[enable rules of these classes, which may change results; all classes if none is named]::CLASS,...:(nsz nnan reassoc approx)' \
'*--only-rule=[disable all rules and patterns but these]:NAME,...:_default' \
'*--disable-rule=[disable these rules and patterns]:NAME,...:_default' \
'*--allow-unchecked-rule=[enable these rules although they could not be checked]:NAME,...:_default' \
'*--check-rules=[check the rules of these files, or the shipped ones, by evaluating both sides]::FILE:_default' \
'--draws=[how many modules to try for each rule and dtype]:N:_default' \
'--check-seed=[the seed of the random modules and values]:N:_default' \
'--format=[how the result of --check-rules is shown]:FORM:(text json)' \
'--verify-each=[verify after every pass]::true|false:(true false)' \
'--timing=[print how long everything took]::FORM:(tree json)' \
'--stats=[print the counters of the passes]::FORM:(text json)' \
'--print-ir-before=[print the module before these passes]:PASS,...:(verify canonicalize channels-last cse dce simplify renumber specialize unroll quantize-activations fold fuse unfuse lower-to-tensor lower-to-loops lower-to-mil import-mil)' \
'--print-ir-after=[print the module after these passes]:PASS,...:(verify canonicalize channels-last cse dce simplify renumber specialize unroll quantize-activations fold fuse unfuse lower-to-tensor lower-to-loops lower-to-mil import-mil)' \
'--print-ir-tree-dir=[write the module after every pass to a separate file]:DIR:_default' \
'--pass-pipeline-crash-reproducer=[when a pass fails, write the module before it and the passes left to run]:FILE:_default' \
'(--split-input-file)--report=[write a page\: the graph before and after every pass, rules, groups, kernels, times]:FILE:_default' \
'--remarks=[report rewrites (\`passed\`) and why rules did not act (\`missed\`), for all rules or for those whose names match]:KIND[:REGEX],...:_default' \
'--explain=[explain which rules led to a value of the output (\`%7\`, \`out\:0\`) or to all values, or whether and why a rule acted on a line of the input]::VALUE|RULE@LINE:_default' \
'--opt-bisect-limit=[make at most N rewrites, or at most N of one rule; -1 makes all and lists them with numbers]:[RULE:]N:_default' \
'--dump-egraph=[draw the e-graph of a region of \`fold\` or \`fuse\`, as \`.dot\` or \`.svg\`]:FILE:_default' \
'--dump-egraph-region=[the index of the region to draw, counted from 0 over all passes]:N:_default' \
'--list-passes=[describe all passes, or one]::NAME:_default' \
'--list-rules=[describe all rules, one, or those of a topic]::NAME|TOPIC:_default' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[keep the zero padding of an IR v2 document'\''s weights instead of stripping it]' \
'--quiet[suppress notes, warnings and progress]' \
'--split-input-file[split the input at lines \`# -----\` or \`// -----\` and process each part separately]' \
'--verify-diagnostics[print nothing and check the diagnostics against \`expected-error {{...}}\` comments]' \
'--external-data[write the large constants of an ONNX model to an external data file OUT.data]' \
'(-O --pass-pipeline)--run-reproducer[run the pipeline written in the file itself]' \
'--print-ir-after-all[print the module after every pass]' \
'--print-ir-after-change[print the changes of each pass as a diff]' \
'--show-dialects[describe all dialects and their ops]' \
'--lit-features[list the features that tests may require]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'::FILE -- the module, a folder NAME.mlpackage for a Core ML package; standard input if it is `-` or not given:_default' \
&& ret=0
}

(( $+functions[_mind-opt_commands] )) ||
_mind-opt_commands() {
    local commands; commands=()
    _describe -t commands 'mind-opt commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-opt" ]; then
    _mind-opt "$@"
else
    compdef _mind-opt mind-opt
fi
