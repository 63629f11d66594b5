#compdef mind-run

autoload -U is-at-least

_mind-run() {
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
'--from=[the input'\''s format, instead of telling it from the content]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx irv2)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[how errors are shown]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` does on a terminal, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM ask for]:WHEN:(auto always never)' \
'--inputs=[arrays for the inputs, by name; bf16 as uint16]:IN.npz:_default' \
'--random=[make up the arrays that are not given, reproducibly]:SEED:_default' \
'*--dim=[the extent of a symbolic dimension; \`?\` for all unnamed ones]:NAME=EXTENT:_default' \
'*--bind=[an input of an ONNX model that is a constant\: the array of that name in the archive]:NAME=FILE.npz:_default' \
'--engine=[what runs it\: machine code, unless it is a module that is lowered to loops already or has ops of MIL that are not imported]:ENGINE:(jit interp)' \
'--isa=[the instruction set to compile for; this machine'\''s widest unless given]:ISA:(avx512 avx2 portable)' \
'--threads=[threads; as many as the machine has unless given]:N:_default' \
'--outputs=[write the outputs there as out0, out1, ..., instead of printing them; bf16 as uint16]:OUT.npz:_default' \
'--format=[how outputs and times are printed]:FORM:(text json)' \
'--memory-limit=[bytes for the inputs, and for the values alive at one time; K, M, G for KiB, ... \[default\: three quarters of the available memory, 4G where that is not known\]]:SIZE:_default' \
'--max-steps=[the most steps of a loop whose end only running tells \[default\: 16777216\]]:COUNT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--model=[run this decoder model\: a folder with config.json and safetensors, or a GGUF file]:MODEL_DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--kernel-maps=[the model may be of the family that the files of this folder describe]:DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--tokens=[the tokens to start from]:ID,...:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--prompt=[the text to start from, by the folder'\''s tokenizer.json; text is printed then]:TEXT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--generate=[how many tokens to draw]:N:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--temperature=[what logits are divided by before tokens are drawn; 0 takes the most likely one]:T:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--top-k=[draw from the K most likely tokens alone; 0 from all]:K:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--top-p=[draw from the most likely tokens that have probability P together]:P:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--seed=[draw the same tokens for the same seed]:SEED:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--capacity=[tokens that the cache of keys and values has room for; as many as the run needs unless given]:TOKENS:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--logits=[write the logits that each token was drawn from there, as the rows of \`logits\`]:OUT.npz:_default' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[compute with the padding of an IR v2 document'\''s weights, which holds zeros, instead of cutting it off]' \
'--quiet[print neither notes, nor warnings, nor progress]' \
'--bench[print compile and run times instead of the outputs]' \
'--full[print every element of the outputs]' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --outputs --bench --format --full --memory-limit --max-steps)--all-logits[write those after the other tokens of the prompt too]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'::FILE -- the module, a folder NAME.mlpackage for a Core ML package; standard input if it is `-` or not given:_default' \
&& ret=0
}

(( $+functions[_mind-run_commands] )) ||
_mind-run_commands() {
    local commands; commands=()
    _describe -t commands 'mind-run commands' commands "$@"
}

if [ "$funcstack[1]" = "_mind-run" ]; then
    _mind-run "$@"
else
    compdef _mind-run mind-run
fi
