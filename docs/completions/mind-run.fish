complete -c mind-run -l from -d 'the input\'s format; by default it is detected from the contents' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
mlpackage\t''
onnx\t''
stablehlo\t''
irv2\t''"
complete -c mind-run -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-run -l diagnostic-format -d 'the format of diagnostics' -r -f -a "text\t''
json\t''"
complete -c mind-run -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-run -l inputs -d 'arrays for the inputs, by name; bf16 as uint16' -r
complete -c mind-run -l random -d 'fill missing arrays with random elements from this seed' -r
complete -c mind-run -l dim -d 'the extent of a symbolic dimension; `?` for all unnamed ones' -r
complete -c mind-run -l bind -d 'replace an input of an ONNX or StableHLO module by a constant: the array of that name in the archive' -r
complete -c mind-run -l engine -d 'the engine; by default machine code, or the interpreter for modules at loops level and MIL programs that cannot be imported' -r -f -a "jit\t''
interp\t''"
complete -c mind-run -l isa -d 'the instruction set to compile for; by default the widest of this machine' -r -f -a "avx512\t''
avx2\t''
portable\t''"
complete -c mind-run -l threads -d 'number of threads; by default one per hardware thread' -r
complete -c mind-run -l outputs -d 'write the outputs to this archive instead of printing them, by their names, or as out0, out1, ... if they have none; bf16 as uint16; embeddings of an encoder as the rows of `embeddings`' -r
complete -c mind-run -l profile-steps -d 'print the time of each kernel and its roofline instead of the outputs; a trace for Perfetto is written to the file' -r
complete -c mind-run -l tune -d 'measure at most COUNT other schedules of kernels (512 by default) and compile the fastest; results stay bit-identical, and the choice is cached with the program' -r
complete -c mind-run -l format -d 'how outputs, vectors and times are printed' -r -f -a "text\t''
json\t''"
complete -c mind-run -l memory-limit -d 'limit in bytes on the inputs, and on the values live at one time; K, M, G for KiB, ... [default: three quarters of the available memory, or 4G if unknown]' -r
complete -c mind-run -l max-steps -d 'limit on the steps of a loop with a data-dependent trip count [default: 16777216]' -r
complete -c mind-run -l model -d 'run this decoder or encoder model: a folder with config.json and safetensors, or a GGUF file' -r
complete -c mind-run -l kernel-maps -d 'also accept the model family that the files of this folder describe' -r
complete -c mind-run -l tokens -d 'the tokens to start from' -r
complete -c mind-run -l prompt -d 'the text to start from, tokenized with the folder\'s tokenizer.json; the output is text' -r
complete -c mind-run -l system -d 'the system message of the conversation' -r
complete -c mind-run -l generate -d 'limit on the generated tokens; by default 1, in a chat and for audio as many as fit, with `--bench` 32' -r
complete -c mind-run -l stop -d 'stop generation before this text; may be repeated' -r
complete -c mind-run -l capacity -d 'capacity of the KV cache in tokens; by default as many as the run needs, in a chat the model\'s context up to 8192' -r
complete -c mind-run -l audio -d 'transcribe this WAV file; `--generate` limits the number of tokens' -r
complete -c mind-run -l language -d 'the spoken language, for example `en` or `english`; by default that of generation_config.json, else the most likely one' -r
complete -c mind-run -l task -d 'the task, for example `transcribe` or `translate`' -r
complete -c mind-run -l features -d 'write the features of the audio to this file, in the form that the model\'s C program reads' -r
complete -c mind-run -l temperature -d 'the sampling temperature; 0 takes the most likely token' -r
complete -c mind-run -l top-k -d 'sample from the K most likely tokens; 0 from all' -r
complete -c mind-run -l top-p -d 'sample from the most likely tokens with total probability P' -r
complete -c mind-run -l min-p -d 'sample from tokens at least P times as likely as the most likely one; 0 from all' -r
complete -c mind-run -l seed -d 'the seed of the sampler' -r
complete -c mind-run -l repetition-penalty -d 'divide the positive logits of tokens that have occurred by R, and multiply their negative logits by R' -r
complete -c mind-run -l beams -d 'find the most likely text by beam search with N beams, instead of sampling' -r
complete -c mind-run -l logits -d 'write the logits of each generated token to this archive, as the rows of `logits`' -r
complete -c mind-run -l embed -d 'print the embedding of this text, tokenized with the folder\'s tokenizer.json; may be repeated; `--tokens` takes the tokens of one text instead' -r
complete -c mind-run -l pixels -d 'print the classes with the highest scores of the image `pixel_values` in this archive (channels, rows, columns), or of each of several images; print embeddings if the model has no classifier or with `--pooling`' -r
complete -c mind-run -l pooling -d 'pooling of token vectors: their mean, the first one, or the model\'s pooler; by default as in modules.json or 1_Pooling/config.json, else the mean' -r -f -a "mean\t''
cls\t''
pooler\t''"
complete -c mind-run -l normalize -d 'whether to normalise embeddings to length 1; by default as in modules.json' -r -f -a "true\t''
false\t''"
complete -c mind-run -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-run -l keep-padding -d 'keep the zero padding of an IR v2 document\'s weights instead of stripping it'
complete -c mind-run -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-run -l bench -d 'print compile and run times instead of the outputs; for a model the times of prefill and of decode steps'
complete -c mind-run -l full -d 'print every element of the outputs'
complete -c mind-run -l no-cache -d 'do not use the compile cache; `MIND_CACHE` names its folder, `MIND_CACHE_LIMIT` limits its size in bytes (1G by default)'
complete -c mind-run -l cache-stats -d 'print the folder and the contents of the compile cache; nothing runs'
complete -c mind-run -l pack-cache -d 'cache packed weights on disk and reuse those of an earlier run; they take about the size of the model and do not count towards `MIND_CACHE_LIMIT`'
complete -c mind-run -l quantize-activations -d 'quantise activations and use integer dot products where weights are block-quantised: faster, but results differ'
complete -c mind-run -l chat -d 'answer each line of standard input, in a conversation formatted by the model\'s chat template'
complete -c mind-run -l ignore-eos -d 'continue after the end-of-text tokens of generation_config.json, config.json or the GGUF header'
complete -c mind-run -l all-logits -d 'also write the logits of the other prompt tokens'
complete -c mind-run -s h -l help -d 'Print help'
complete -c mind-run -s V -l version -d 'Print version'
