complete -c mind-run -l from -d 'the input\'s format, instead of telling it from the content' -r -f -a "mic1\t''
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
complete -c mind-run -l diagnostic-format -d 'how errors are shown' -r -f -a "text\t''
json\t''"
complete -c mind-run -l color -d 'colour diagnostics; `auto` does on a terminal, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM ask for' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-run -l inputs -d 'arrays for the inputs, by name; bf16 as uint16' -r
complete -c mind-run -l random -d 'make up the arrays that are not given, reproducibly' -r
complete -c mind-run -l dim -d 'the extent of a symbolic dimension; `?` for all unnamed ones' -r
complete -c mind-run -l bind -d 'replace an input of an ONNX or StableHLO module by a constant: the array of that name in the archive' -r
complete -c mind-run -l engine -d 'what runs it: machine code, unless it is a module that is lowered to loops already or has ops of MIL that are not imported' -r -f -a "jit\t''
interp\t''"
complete -c mind-run -l isa -d 'the instruction set to compile for; this machine\'s widest unless given' -r -f -a "avx512\t''
avx2\t''
portable\t''"
complete -c mind-run -l threads -d 'threads; as many as the machine has unless given' -r
complete -c mind-run -l outputs -d 'write the outputs there by their names, or as out0, out1, ... where they have none, instead of printing them; bf16 as uint16; vectors of an encoder as the rows of `embeddings`' -r
complete -c mind-run -l profile-steps -d 'print what each kernel takes, and what it could take at best, instead of the outputs; a trace for Perfetto is written to the file' -r
complete -c mind-run -l tune -d 'measure other schedules of each kernel, COUNT in all at most (512 unless given), and compile the fastest ones; results have the same bits, and what was chosen is kept with the program' -r
complete -c mind-run -l format -d 'how outputs, vectors and times are printed' -r -f -a "text\t''
json\t''"
complete -c mind-run -l memory-limit -d 'bytes for the inputs, and for the values alive at one time; K, M, G for KiB, ... [default: three quarters of the available memory, 4G where that is not known]' -r
complete -c mind-run -l max-steps -d 'the most steps of a loop whose end only running tells [default: 16777216]' -r
complete -c mind-run -l model -d 'run this decoder or encoder model: a folder with config.json and safetensors, or a GGUF file' -r
complete -c mind-run -l kernel-maps -d 'the model may be of the family that the files of this folder describe' -r
complete -c mind-run -l tokens -d 'the tokens to start from' -r
complete -c mind-run -l prompt -d 'the text to start from, by the folder\'s tokenizer.json; text is printed then' -r
complete -c mind-run -l system -d 'what the system says at the beginning of the conversation' -r
complete -c mind-run -l generate -d 'how many tokens to draw at most; 1 unless given, in a chat and of sound as many as fit, with `--bench` 32' -r
complete -c mind-run -l stop -d 'end the text in front of this one; may be given several times' -r
complete -c mind-run -l capacity -d 'tokens that the cache of keys and values has room for; as many as the run needs unless given, in a chat the model\'s context up to 8192' -r
complete -c mind-run -l audio -d 'write what is said in this WAV file, with `--generate` that many tokens of it at most' -r
complete -c mind-run -l language -d 'the language that is spoken, such as `en` or `english`; the most likely one unless given here or in generation_config.json' -r
complete -c mind-run -l task -d 'what becomes of what is said, such as `transcribe` or `translate`' -r
complete -c mind-run -l features -d 'write the features of the sound there, as the program in C of the model reads them' -r
complete -c mind-run -l temperature -d 'what logits are divided by before tokens are drawn; 0 takes the most likely one' -r
complete -c mind-run -l top-k -d 'draw from the K most likely tokens alone; 0 from all' -r
complete -c mind-run -l top-p -d 'draw from the most likely tokens that have probability P together' -r
complete -c mind-run -l min-p -d 'draw from tokens at least P times as likely as the most likely one; 0 from all' -r
complete -c mind-run -l seed -d 'draw the same tokens for the same seed' -r
complete -c mind-run -l repetition-penalty -d 'divide logits above 0 of tokens that are there already by R, and multiply those below by it' -r
complete -c mind-run -l beams -d 'search the most likely text with N sequences side by side, instead of drawing tokens' -r
complete -c mind-run -l logits -d 'write the logits that each token was drawn from there, as the rows of `logits`' -r
complete -c mind-run -l embed -d 'print the vector of this text, by the folder\'s tokenizer.json; may be given several times; `--tokens` gives the tokens of one text instead' -r
complete -c mind-run -l pixels -d 'print the classes with the largest scores of the image `pixel_values` of this archive, of channels, rows and columns, or of each of several images; their vectors where the model has no classifier or `--pooling` is given' -r
complete -c mind-run -l pooling -d 'how the vectors of tokens become one: their mean, that of the first token, or what the model\'s pooler makes of that; as modules.json or 1_Pooling/config.json say unless given, else the mean' -r -f -a "mean\t''
cls\t''
pooler\t''"
complete -c mind-run -l normalize -d 'whether to make the length of vectors 1; as modules.json says unless given' -r -f -a "true\t''
false\t''"
complete -c mind-run -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-run -l keep-padding -d 'compute with the padding of an IR v2 document\'s weights, which holds zeros, instead of cutting it off'
complete -c mind-run -l quiet -d 'print neither notes, nor warnings, nor progress'
complete -c mind-run -l bench -d 'print compile and run times instead of the outputs, of a model those of reading a prompt and of each token'
complete -c mind-run -l full -d 'print every element of the outputs'
complete -c mind-run -l no-cache -d 'compile the module even if the program is kept from an earlier run, and keep nothing; `MIND_CACHE` names the folder of programs, `MIND_CACHE_LIMIT` the most bytes of it (1G unless given)'
complete -c mind-run -l cache-stats -d 'print where programs are kept, and what is there; nothing runs'
complete -c mind-run -l pack-cache -d 'keep packed weights in the folder of programs, and start from those of an earlier run; they take about the room of the model again, outside of `MIND_CACHE_LIMIT`'
complete -c mind-run -l quantize-activations -d 'multiply integers where weights are stored in blocks of quantised numbers: faster, with another result'
complete -c mind-run -l chat -d 'answer each line of standard input, in a conversation that the model\'s chat template writes'
complete -c mind-run -l ignore-eos -d 'draw on behind tokens that end a text by generation_config.json, config.json or the GGUF header'
complete -c mind-run -l all-logits -d 'write those after the other tokens of the prompt too'
complete -c mind-run -s h -l help -d 'Print help'
complete -c mind-run -s V -l version -d 'Print version'
