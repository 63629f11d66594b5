complete -c mind-opt -l from -d 'the input\'s format; by default it is detected from the contents' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
mlpackage\t''
onnx\t''
stablehlo\t''
irv2\t''"
complete -c mind-opt -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-opt -l diagnostic-format -d 'the format of diagnostics' -r -f -a "text\t''
json\t''"
complete -c mind-opt -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-opt -l dim -d 'the extent of a symbolic dimension of an ONNX or StableHLO module' -r
complete -c mind-opt -l bind -d 'replace an input of an ONNX or StableHLO module by a constant: the array of that name in the archive' -r
complete -c mind-opt -l to -d 'the output\'s format; by default that of the extension of -o, else the input\'s format or Core text' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
onnx\t''"
complete -c mind-opt -s o -d 'write there, not to standard output; its extension selects the format' -r
complete -c mind-opt -l ane-report -d 'print, instead of the module, which of its MIL ops run on the neural engine, and why' -r -f -a "text\t''
json\t''"
complete -c mind-opt -l diff -d 'print the structural diff of the modules OLD and FILE, and exit with 1 if they differ' -r
complete -c mind-opt -l opset -d 'the opset version of a written ONNX model, 21 by default' -r
complete -c mind-opt -l verify -d 'Checks all rules of all ops; tools also do this when they read a module' -r
complete -c mind-opt -l canonicalize -l canonicalise -d 'Folds constants, removes dead ops, applies identities that are exact in IEEE arithmetic, merges chains of transposes and reshapes, orders commutative operands, replaces `?` by constant extents, writes out defaults and types' -r
complete -c mind-opt -l channels-last -d 'Converts convolutions to the channels-last layout and moves the added transposes towards the outputs, with rules of the e-graph, so that fold and fuse find good forms of convolutional networks early' -r
complete -c mind-opt -l cse -d 'Merges ops of the same kind with equal operands, attributes and bodies' -r
complete -c mind-opt -l dce -d 'Removes ops, and results of fused ops, that no output depends on; keeps inputs, because they are part of the interface' -r
complete -c mind-opt -l simplify -d 'Alternates canonicalize and cse until cse merges nothing, because merged operands allow simplifications, which make more ops equal' -r
complete -c mind-opt -l renumber -d 'Moves inputs to the front and numbers all values from 0 in text order' -r
complete -c mind-opt -l specialize -d 'Replaces symbolic dimensions, and `?` in inputs, by numbers' -r
complete -c mind-opt -l unroll -d 'Inlines the region of an `If` with a constant predicate, and the steps of a `Scan` with a small trip count' -r
complete -c mind-opt -l quantize-activations -d 'Replaces matrix products with block-quantised weights by integer products: the rows of the other operand are quantised to 8 bits, and weights are passed as bytes. Changes results' -r
complete -c mind-opt -l fold -d 'Replaces values by cheaper equal ones, found by rules in an e-graph and chosen by cost' -r
complete -c mind-opt -l fuse -d 'Gathers ops into fused ones with a body, where that saves launches or memory traffic' -r
complete -c mind-opt -l unfuse -d 'Puts the bodies of fused ops back in line, the inverse of fuse' -r
complete -c mind-opt -l lower-to-tensor -d 'Lowers core ops to the tensor dialect: explicit broadcasts, arithmetic as maps, fused ops as groups; constants and inputs are kept' -r
complete -c mind-opt -l lower-to-loops -d 'Lowers to kernels over tiled loops: groups become one kernel if possible, layout-only ops become views, results get offsets in the workspace; core ops are lowered to the tensor dialect first' -r
complete -c mind-opt -l lower-to-mil -d 'Lowers core and tensor ops to the mil dialect: halves for floats, constants cast once, ops without a MIL form reported by name' -r
complete -c mind-opt -l import-mil -d 'Turns the function of a MIL program into core and tensor ops, which every other pass takes; refuses ops without a counterpart by name' -r
complete -c mind-opt -l pass-pipeline -d 'the passes as text: `canonicalize,cse`, options in braces' -r
complete -c mind-opt -s O -d 'the pipeline of an optimisation level, with passes before and after it; results stay bit-identical' -r -f -a "0\t''
1\t''
2\t''
3\t''"
complete -c mind-opt -l rules -d 'also use the rules of this file; may be repeated' -r
complete -c mind-opt -l fast-math -d 'enable rules of these classes, which may change results; all classes if none is named' -r -f -a "nsz\t''
nnan\t''
reassoc\t''
approx\t''"
complete -c mind-opt -l only-rule -d 'disable all rules and patterns but these' -r
complete -c mind-opt -l disable-rule -d 'disable these rules and patterns' -r
complete -c mind-opt -l allow-unchecked-rule -d 'enable these rules although they could not be checked' -r
complete -c mind-opt -l check-rules -d 'check the rules of these files, or the shipped ones, by evaluating both sides' -r
complete -c mind-opt -l draws -d 'how many modules to try for each rule and dtype' -r
complete -c mind-opt -l check-seed -d 'the seed of the random modules and values' -r
complete -c mind-opt -l format -d 'how the result of --check-rules is shown' -r -f -a "text\t''
json\t''"
complete -c mind-opt -l verify-each -d 'verify after every pass' -r -f -a "true\t''
false\t''"
complete -c mind-opt -l timing -d 'print how long everything took' -r -f -a "tree\t''
json\t''"
complete -c mind-opt -l stats -d 'print the counters of the passes' -r -f -a "text\t''
json\t''"
complete -c mind-opt -l print-ir-before -d 'print the module before these passes' -r -f -a "verify\t''
canonicalize\t''
channels-last\t''
cse\t''
dce\t''
simplify\t''
renumber\t''
specialize\t''
unroll\t''
quantize-activations\t''
fold\t''
fuse\t''
unfuse\t''
lower-to-tensor\t''
lower-to-loops\t''
lower-to-mil\t''
import-mil\t''"
complete -c mind-opt -l print-ir-after -d 'print the module after these passes' -r -f -a "verify\t''
canonicalize\t''
channels-last\t''
cse\t''
dce\t''
simplify\t''
renumber\t''
specialize\t''
unroll\t''
quantize-activations\t''
fold\t''
fuse\t''
unfuse\t''
lower-to-tensor\t''
lower-to-loops\t''
lower-to-mil\t''
import-mil\t''"
complete -c mind-opt -l print-ir-tree-dir -d 'write the module after every pass to a separate file' -r
complete -c mind-opt -l pass-pipeline-crash-reproducer -d 'when a pass fails, write the module before it and the passes left to run' -r
complete -c mind-opt -l report -d 'write a page: the graph before and after every pass, rules, groups, kernels, times' -r
complete -c mind-opt -l remarks -d 'report rewrites (`passed`) and why rules did not act (`missed`), for all rules or for those whose names match' -r
complete -c mind-opt -l explain -d 'explain which rules led to a value of the output (`%7`, `out:0`) or to all values, or whether and why a rule acted on a line of the input' -r
complete -c mind-opt -l opt-bisect-limit -d 'make at most N rewrites, or at most N of one rule; -1 makes all and lists them with numbers' -r
complete -c mind-opt -l dump-egraph -d 'draw the e-graph of a region of `fold` or `fuse`, as `.dot` or `.svg`' -r
complete -c mind-opt -l dump-egraph-region -d 'the index of the region to draw, counted from 0 over all passes' -r
complete -c mind-opt -l list-passes -d 'describe all passes, or one' -r
complete -c mind-opt -l list-rules -d 'describe all rules, one, or those of a topic' -r
complete -c mind-opt -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-opt -l keep-padding -d 'keep the zero padding of an IR v2 document\'s weights instead of stripping it'
complete -c mind-opt -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-opt -l split-input-file -d 'split the input at lines `# -----` or `// -----` and process each part separately'
complete -c mind-opt -l verify-diagnostics -d 'print nothing and check the diagnostics against `expected-error {{...}}` comments'
complete -c mind-opt -l external-data -d 'write the large constants of an ONNX model to an external data file OUT.data'
complete -c mind-opt -l run-reproducer -d 'run the pipeline written in the file itself'
complete -c mind-opt -l print-ir-after-all -d 'print the module after every pass'
complete -c mind-opt -l print-ir-after-change -d 'print the changes of each pass as a diff'
complete -c mind-opt -l show-dialects -d 'describe all dialects and their ops'
complete -c mind-opt -l lit-features -d 'list the features that tests may require'
complete -c mind-opt -s h -l help -d 'Print help'
complete -c mind-opt -s V -l version -d 'Print version'
