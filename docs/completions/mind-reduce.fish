complete -c mind-reduce -l from -d 'the input\'s format; by default it is detected from the contents' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''
stablehlo\t''
irv2\t''"
complete -c mind-reduce -l profile -d 'which ops, dtypes and dimensions the module may use' -r -f -a "core-v1\t''
extended\t''"
complete -c mind-reduce -l diagnostic-format -d 'the format of diagnostics' -r -f -a "text\t''
json\t''"
complete -c mind-reduce -l color -d 'colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mind-reduce -l test -d 'the interestingness test: CMD exits with 0 for the file, the passes or the given engine crash (`@crash`), or the results of the passes\' output differ from those of their input (`@differs`)' -r
complete -c mind-reduce -s o -d 'write there, not to standard output; its extension selects the format' -r
complete -c mind-reduce -l to -d 'the output\'s format; by default that of the extension of -o, else the input\'s format or Core text' -r -f -a "mic1\t''
mic2\t''
core\t''
mil\t''
mil-primer\t''"
complete -c mind-reduce -l trials -d 'the maximal number of tests' -r
complete -c mind-reduce -l time-limit -d 'the time limit of CMD, or of passes and engine, for one module' -r
complete -c mind-reduce -l memory-limit -d 'the memory limit of passes and engine for one module; K, M, G for KiB, ...' -r
complete -c mind-reduce -l pass-pipeline -d 'the passes to run, as text; by default those of -O2' -r
complete -c mind-reduce -s O -d 'a named pipeline' -r -f -a "0\t''
1\t''
2\t''
3\t''"
complete -c mind-reduce -l engine -d 'the engine that runs the passes\' output: by default the interpreter for `@differs`, and none for `@crash`; with `jit` no passes run by default' -r -f -a "interp\t''
jit\t''"
complete -c mind-reduce -l rules -d 'also use the rules of this file; may be repeated' -r
complete -c mind-reduce -l fast-math -d 'enable rules of these classes, which may change results; all classes if none is named' -r -f -a "nsz\t''
nnan\t''
reassoc\t''
approx\t''"
complete -c mind-reduce -l only-rule -d 'disable all rules and patterns but these' -r
complete -c mind-reduce -l disable-rule -d 'disable these rules and patterns' -r
complete -c mind-reduce -l allow-unchecked-rule -d 'enable these rules although they could not be checked' -r
complete -c mind-reduce -l no-input-limits -d 'lift the limits on size, nodes and strings, for input you trust'
complete -c mind-reduce -l keep-padding -d 'keep the zero padding of an IR v2 document\'s weights instead of stripping it'
complete -c mind-reduce -l quiet -d 'suppress notes, warnings and progress'
complete -c mind-reduce -l bisect -d 'name the first rewrite that makes the passes\' output interesting; CMD is given that output'
complete -c mind-reduce -s h -l help -d 'Print help'
complete -c mind-reduce -s V -l version -d 'Print version'
