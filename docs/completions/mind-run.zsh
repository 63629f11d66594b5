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
'--from=[the input'\''s format; by default it is detected from the contents]:FORMAT:(mic1 mic2 core mil mil-primer mlpackage onnx stablehlo irv2)' \
'--profile=[which ops, dtypes and dimensions the module may use]:PROFILE:(core-v1 extended)' \
'--diagnostic-format=[the format of diagnostics]:FORM:(text json)' \
'--color=[colour diagnostics; \`auto\` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM]:WHEN:(auto always never)' \
'--inputs=[arrays for the inputs, by name; bf16 as uint16]:IN.npz:_default' \
'--random=[fill missing arrays with random elements from this seed]:SEED:_default' \
'*--dim=[the extent of a symbolic dimension; \`?\` for all unnamed ones]:NAME=EXTENT:_default' \
'*--bind=[replace an input of an ONNX or StableHLO module by a constant\: the array of that name in the archive]:NAME=FILE.npz:_default' \
'--engine=[the engine; by default machine code, or the interpreter for modules at loops level and MIL programs that cannot be imported]:ENGINE:(jit interp)' \
'--isa=[the instruction set to compile for; by default the widest of this machine]:ISA:(avx512 avx2 portable)' \
'--threads=[number of threads; by default one per hardware thread]:N:_default' \
'--outputs=[write the outputs to this archive instead of printing them, by their names, or as out0, out1, ... if they have none; bf16 as uint16; embeddings of an encoder as the rows of \`embeddings\`]:OUT.npz:_default' \
'(--bench)--profile-steps=[print the time of each kernel and its roofline instead of the outputs; a trace for Perfetto is written to the file]::TRACE.json:_default' \
'--tune=[measure at most COUNT other schedules of kernels (512 by default) and compile the fastest; results stay bit-identical, and the choice is cached with the program]::COUNT:_default' \
'--format=[how outputs, vectors and times are printed]:FORM:(text json)' \
'--memory-limit=[limit in bytes on the inputs, and on the values live at one time; K, M, G for KiB, ... \[default\: three quarters of the available memory, or 4G if unknown\]]:SIZE:_default' \
'--max-steps=[limit on the steps of a loop with a data-dependent trip count \[default\: 16777216\]]:COUNT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--model=[run this decoder or encoder model\: a folder with config.json and safetensors, or a GGUF file]:MODEL_DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--kernel-maps=[also accept the model family that the files of this folder describe]:DIR:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--tokens=[the tokens to start from]:ID,...:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--prompt=[the text to start from, tokenized with the folder'\''s tokenizer.json; the output is text]:TEXT:_default' \
'(--tokens --prompt --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--system=[the system message of the conversation]:TEXT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--generate=[limit on the generated tokens; by default 1, in a chat and for audio as many as fit, with \`--bench\` 32]:N:_default' \
'(--tokens --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)*--stop=[stop generation before this text; may be repeated]:TEXT:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--capacity=[capacity of the KV cache in tokens; by default as many as the run needs, in a chat the model'\''s context up to 8192]:TOKENS:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--audio=[transcribe this WAV file; \`--generate\` limits the number of tokens]:IN.wav:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--language=[the spoken language, for example \`en\` or \`english\`; by default that of generation_config.json, else the most likely one]:LANGUAGE:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--task=[the task, for example \`transcribe\` or \`translate\`]:TASK:_default' \
'(--tokens --prompt --chat --embed --pixels --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--features=[write the features of the audio to this file, in the form that the model'\''s C program reads]:OUT:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--temperature=[the sampling temperature; 0 takes the most likely token]:T:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--top-k=[sample from the K most likely tokens; 0 from all]:K:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--top-p=[sample from the most likely tokens with total probability P]:P:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--min-p=[sample from tokens at least P times as likely as the most likely one; 0 from all]:P:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--seed=[the seed of the sampler]:SEED:_default' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--repetition-penalty=[divide the positive logits of tokens that have occurred by R, and multiply their negative logits by R]:R:_default' \
'(--temperature --top-k --top-p --min-p --seed --chat --logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--beams=[find the most likely text by beam search with N beams, instead of sampling]:N:_default' \
'(--chat --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--logits=[write the logits of each generated token to this archive, as the rows of \`logits\`]:OUT.npz:_default' \
'(--audio --language --task --features --prompt --chat --system --generate --stop --ignore-eos --capacity --temperature --top-k --top-p --min-p --seed --repetition-penalty --beams --logits --all-logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)*--embed=[print the embedding of this text, tokenized with the folder'\''s tokenizer.json; may be repeated; \`--tokens\` takes the tokens of one text instead]:TEXT:_default' \
'(--audio --language --task --features --prompt --chat --system --generate --stop --ignore-eos --capacity --temperature --top-k --top-p --min-p --seed --repetition-penalty --beams --logits --all-logits --bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pixels=[print the classes with the highest scores of the image \`pixel_values\` in this archive (channels, rows, columns), or of each of several images; print embeddings if the model has no classifier or with \`--pooling\`]:IN.npz:_default' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pooling=[pooling of token vectors\: their mean, the first one, or the model'\''s pooler; by default as in modules.json or 1_Pooling/config.json, else the mean]:HOW:(mean cls pooler)' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--normalize=[whether to normalise embeddings to length 1; by default as in modules.json]::BOOL:(true false)' \
'--no-input-limits[lift the limits on size, nodes and strings, for input you trust]' \
'--keep-padding[keep the zero padding of an IR v2 document'\''s weights instead of stripping it]' \
'--quiet[suppress notes, warnings and progress]' \
'--bench[print compile and run times instead of the outputs; for a model the times of prefill and of decode steps]' \
'--full[print every element of the outputs]' \
'--no-cache[do not use the compile cache; \`MIND_CACHE\` names its folder, \`MIND_CACHE_LIMIT\` limits its size in bytes (1G by default)]' \
'--cache-stats[print the folder and the contents of the compile cache; nothing runs]' \
'(--no-cache --kernel-maps --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--pack-cache[cache packed weights on disk and reuse those of an earlier run; they take about the size of the model and do not count towards \`MIND_CACHE_LIMIT\`]' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--quantize-activations[quantise activations and use integer dot products where weights are block-quantised\: faster, but results differ]' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--chat[answer each line of standard input, in a conversation formatted by the model'\''s chat template]' \
'(--bench --from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--ignore-eos[continue after the end-of-text tokens of generation_config.json, config.json or the GGUF header]' \
'(--from --profile --no-input-limits --keep-padding --inputs --random --dim --bind --full --memory-limit --max-steps --profile-steps --tune)--all-logits[also write the logits of the other prompt tokens]' \
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
