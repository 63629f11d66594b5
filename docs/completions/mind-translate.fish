complete -c mind-translate -l from -d 'the input\'s format; by default it is detected from the contents' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
mlpackage\t''
onnx\t''
stablehlo\t''
irv2\t''
hf\t''"
complete -c mind-translate -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-translate -l diagnostic-format -d 'the format of diagnostics' -r -f -a "text\t''
json\t''"
complete -c mind-translate -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-translate -l to -d 'the output\'s format; by default that of the extension of -o, with `--patch` the input\'s format; for MIL and packages the module is lowered, unless it is a program' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
mlpackage\t''
onnx\t''
irv2\t''
c\t''
object\t''
so\t''
dot\t''
svg\t''
html\t''"
complete -c mind-translate -s o -d 'write there, not to standard output; its extension selects the format; a package is a folder and needs it' -r
complete -c mind-translate -l patch -d 'apply the edits of this JSON file first, all or none; `docs/patching.md` describes them' -r
complete -c mind-translate -l dim -d 'replace a symbolic dimension by this extent first' -r
complete -c mind-translate -l bind -d 'replace an input of an ONNX or StableHLO module by a constant: the array of that name in the archive' -r
complete -c mind-translate -l pass-pipeline -d 'run these passes first: `import-mil,canonicalize`' -r
complete -c mind-translate -l function -d 'the name of the generated C function, or the prefix of the functions of an object file' -r
complete -c mind-translate -l isa -d 'the target instruction sets, in the order in which they are tried at run time' -r -f -a "avx512\t''
avx2\t''
portable\t''"
complete -c mind-translate -l object-format -d 'the format of an object file, of Linux, macOS or Windows' -r -f -a "elf\t''
macho\t''
coff\t''"
complete -c mind-translate -l capacity -d 'capacity of the KV cache of a model in tokens' -r
complete -c mind-translate -l weights -d 'the weights, a file or a folder; by default those in the configuration\'s folder' -r
complete -c mind-translate -l kernel-maps -d 'also accept the model family that the files of this folder describe' -r
complete -c mind-translate -l precision -d 'the dtype that replaces f32' -r -f -a "fp16\t''
fp32\t''"
complete -c mind-translate -l io -d 'which types the program takes and gives: `ane` fp16 and narrow integers, `coreml` also fp32 and int32' -r -f -a "ane\t''
coreml\t''"
complete -c mind-translate -l layout -d 'products with a constant matrix as 1x1 convolutions over [B, C, 1, S]: always, never, or from 32 rows' -r -f -a "auto\t''
ane\t''
keep\t''"
complete -c mind-translate -l opset -d 'the opset; for ONNX 13 to 26, 21 by default' -r
complete -c mind-translate -l flexible -d 'keep a symbolic dimension open: B=1..32 for a range, B=1,2,4 for a list' -r
complete -c mind-translate -l build-info -d 'a build info entry of the program, instead of the tool\'s name' -r
complete -c mind-translate -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-translate -l keep-padding -d 'keep the zero padding of an IR v2 document\'s weights instead of stripping it'
complete -c mind-translate -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-translate -l token-report -d 'print how many bytes and tokens the module takes in every format, and as JSON'
complete -c mind-translate -l all-ops -d 'draw every op: no folding of repeated layers, no overview below 1,000 boxes'
complete -c mind-translate -l external-data -d 'write the large constants of an ONNX model to an external data file OUT.data'
complete -c mind-translate -l main -d 'add a `main` function that reads inputs from stdin and writes outputs to stdout'
complete -c mind-translate -l allow-unknown -d 'keep unknown members of a document'
complete -c mind-translate -s h -l help -d 'Print help'
complete -c mind-translate -s V -l version -d 'Print version'
