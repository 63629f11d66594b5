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
'--from=[the input'\''s format, instead of telling it from the content]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx stablehlo irv2)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[how errors are shown]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` does on a terminal, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM ask for]:WHEN:(auto always never)' \
'--inputs=[arrays for the inputs, by name; bf16 as uint16]:IN.npz:_default' \
'--random=[make up the arrays that are not given, reproducibly]:SEED:_default' \
'*--dim=[the extent of a symbolic dimension; \`?\` for all unnamed ones]:NAME=EXTENT:_default' \
'*--bind=[replace an input of an ONNX or StableHLO module by a constant\: the array of that name in the archive]:NAME=FILE.npz:_default' \
'--engine=[what runs it\: machine code, unless it is a module that is lowered to loops already or has ops of MIL that are not imported]:ENGINE:(jit interp)' \
'--isa=[the instruction set to compile for; this machine'\''s widest unless given]:ISA:(avx512 avx2 portable)' \
'--threads=[threads; as many as the machine has unless given]:N:_default' \
'--outputs=[write the outputs there by their names, or as out0, out1, ... where they have none, instead of printing them; bf16 as uint16; vectors of an encoder as the rows of \`embeddings\`]:OUT.npz:_default' \
'(--bench)--profile-steps=[print what each kernel takes, and what it could take at best, instead of the outputs; a trace for Perfetto is written to the file]::TRACE.json:_default' \
'--tune=[measure other schedules of each kernel, COUNT in all at most (512 unless given), and compile the fastest ones; results have the same bits, and what was chosen is kept with the program]::COUNT:_default' \
'--format=[how outputs, vectors and times are printed]:FORM:(text json)' \
'--memory-limit=[bytes for the inputs, and for the values alive at one time; K, M, G for KiB, ... \[default\: three quarters of the available memory, 4G where that is not known\]]:SIZE:_default' \
'--max-steps=[the most steps of a loop whose end only running tells \[default\: 16777216\]]:COUNT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--model=[run this decoder or encoder model\: a folder with config.json and safetensors, or a GGUF file]:MODEL_DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--kernel-maps=[the model may be of the family that the files of this folder describe]:DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--tokens=[the tokens to start from]:ID,...:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--prompt=[the text to start from, by the folder'\''s tokenizer.json; text is printed then]:TEXT:_default' \
'(--tokens --prompt --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--system=[what the system says at the beginning of the conversation]:TEXT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--generate=[how many tokens to draw at most; 1 unless given, in a chat and of sound as many as fit, with \`--bench\` 32]:N:_default' \
'(--tokens --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)*--stop=[end the text in front of this one; may be given several times]:TEXT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--capacity=[tokens that the cache of keys and values has room for; as many as the run needs unless given, in a chat the model'\''s context up to 8192]:TOKENS:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--audio=[write what is said in this WAV file, with \`--generate\` that many tokens of it at most]:IN.wav:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--language=[the language that is spoken, such as \`en\` or \`english\`; the most likely one unless given here or in generation_config.json]:LANGUAGE:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--task=[what becomes of what is said, such as \`transcribe\` or \`translate\`]:TASK:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--features=[write the features of the sound there, as the program in C of the model reads them]:OUT:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--temperature=[what logits are divided by before tokens are drawn; 0 takes the most likely one]:T:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--top-k=[draw from the K most likely tokens alone; 0 from all]:K:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--top-p=[draw from the most likely tokens that have probability P together]:P:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--min-p=[draw from tokens at least P times as likely as the most likely one; 0 from all]:P:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--seed=[draw the same tokens for the same seed]:SEED:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--repetition-penalty=[divide logits above 0 of tokens that are there already by R, and multiply those below by it]:R:_default' \
'(--temperature --top-k --top-p --min-p --seed --chat --logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--beams=[search the most likely text with N sequences side by side, instead of drawing tokens]:N:_default' \
'(--chat --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--logits=[write the logits that each token was drawn from there, as the rows of \`logits\`]:OUT.npz:_default' \
'(--audio --language --task --features --prompt --chat --system --generate --stop --ignore-eos --capacity --temperature --top-k --top-p --min-p --seed --repetition-penalty --beams --logits --all-logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)*--embed=[print the vector of this text, by the folder'\''s tokenizer.json; may be given several times; \`--tokens\` gives the tokens of one text instead]:TEXT:_default' \
'(--audio --language --task --features --prompt --chat --system --generate --stop --ignore-eos --capacity --temperature --top-k --top-p --min-p --seed --repetition-penalty --beams --logits --all-logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pixels=[print the classes with the largest scores of the image \`pixel_values\` of this archive, of channels, rows and columns, or of each of several images; their vectors where the model has no classifier or \`--pooling\` is given]:IN.npz:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pooling=[how the vectors of tokens become one\: their mean, that of the first token, or what the model'\''s pooler makes of that; as modules.json or 1_Pooling/config.json say unless given, else the mean]:HOW:(mean cls pooler)' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--normalize=[whether to make the length of vectors 1; as modules.json says unless given]::BOOL:(true false)' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[compute with the padding of an IR v2 document'\''s weights, which holds zeros, instead of cutting it off]' \
'--quiet[print neither notes, nor warnings, nor progress]' \
'--bench[print compile and run times instead of the outputs, of a model those of reading a prompt and of each token]' \
'--full[print every element of the outputs]' \
'--no-cache[compile the module even if the program is kept from an earlier run, and keep nothing; \`MIND_CACHE\` names the folder of programs, \`MIND_CACHE_LIMIT\` the most bytes of it (1G unless given)]' \
'--cache-stats[print where programs are kept, and what is there; nothing runs]' \
'(--no-cache --kernel-maps --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pack-cache[keep packed weights in the folder of programs, and start from those of an earlier run; they take about the room of the model again, outside of \`MIND_CACHE_LIMIT\`]' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--quantize-activations[multiply integers where weights are stored in blocks of quantised numbers\: faster, with another result]' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--chat[answer each line of standard input, in a conversation that the model'\''s chat template writes]' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--ignore-eos[draw on behind tokens that end a text by generation_config.json, config.json or the GGUF header]' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--all-logits[write those after the other tokens of the prompt too]' \
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
