#compdef mind-translate

autoload -U is-at-least

_mind-translate() {
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
'--from=[the input'\''s format; by default it is detected from the contents]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx stablehlo irv2 hf)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[the format of diagnostics]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'--to=[the output'\''s format; by default that of the extension of -o, with \`--patch\` the input'\''s format; for MIL and packages the module is lowered, unless it is a program]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx irv2 c object so dot svg html)' \
'-o+[write there, not to standard output; its extension selects the format; a package is a folder and needs it]:OUT:_default' \
'--patch=[apply the edits of this JSON file first, all or none; \`docs/patching.md\` describes them]:EDITS:_default' \
'*--dim=[replace a symbolic dimension by this extent first]:NAME=EXTENT:_default' \
'*--bind=[replace an input of an ONNX or StableHLO module by a constant\: the array of that name in the archive]:NAME=FILE.npz:_default' \
'--pass-pipeline=[run these passes first\: \`import-mil,canonicalize\`]:TEXT:_default' \
'--function=[the name of the generated C function, or the prefix of the functions of an object file]:NAME:_default' \
'--isa=[the target instruction sets, in the order in which they are tried at run time]:SETS:(avx512 avx2 portable)' \
'--object-format=[the format of an object file, of Linux, macOS or Windows]:FORMAT:(elf macho coff)' \
'--capacity=[capacity of the KV cache of a model in tokens]:TOKENS:_default' \
'--weights=[the weights, a file or a folder; by default those in the configuration'\''s folder]:PATH:_default' \
'--kernel-maps=[also accept the model family that the files of this folder describe]:DIR:_default' \
'--precision=[the dtype that replaces f32]:WORD:(fp16 fp32)' \
'--io=[which types the program takes and gives\: \`ane\` fp16 and narrow integers, \`coreml\` also fp32 and int32]:WORD:(ane coreml)' \
'--layout=[products with a constant matrix as 1x1 convolutions over \[B, C, 1, S\]\: always, never, or from 32 rows]:WORD:(auto ane keep)' \
'--opset=[the opset; for ONNX 13 to 26, 21 by default]:WORD:_default' \
'*--flexible=[keep a symbolic dimension open\: B=1..32 for a range, B=1,2,4 for a list]:DIM=EXTENTS:_default' \
'*--build-info=[a build info entry of the program, instead of the tool'\''s name]:KEY=VALUE:_default' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[keep the zero padding of an IR v2 document'\''s weights instead of stripping it]' \
'--quiet[suppress notes, warnings and progress]' \
'(--to --patch)--token-report[print how many bytes and tokens the module takes in every format, and as JSON]' \
'--all-ops[draw every op\: no folding of repeated layers, no overview below 1,000 boxes]' \
'--external-data[write the large constants of an ONNX model to an external data file OUT.data]' \
'--main[add a \`main\` function that reads inputs from stdin and writes outputs to stdout]' \
'--allow-unknown[keep unknown members of a document]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'::FILE -- the module, a folder NAME.mlpackage for a Core ML package, or the description of a model; standard input if it is `-` or not given:_default' \
&& ret=0
}

(( $+functions[_mind-translate_commands] )) ||
_mind-translate_commands() {
    local commands; commands=()
    _describe -t commands 'mind-translate commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-translate" ]; then
    _mind-translate "$@"
else
    compdef _mind-translate mind-translate
fi
