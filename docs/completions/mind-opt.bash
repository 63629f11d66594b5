_mind__opt() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="mind__opt"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        mind__opt)
            opts="-o -O -h -V --from --profile --no-input-limits --keep-padding --diagnostic-format --color --quiet --dim --bind --to --ane-report --diff --split-input-file --verify-diagnostics --opset --external-data --verify --canonicalise --canonicalize --channels-last --cse --dce --simplify --renumber --specialize --unroll --quantize-activations --fold --fuse --unfuse --lower-to-tensor --lower-to-loops --lower-to-mil --import-mil --pass-pipeline --run-reproducer --rules --fast-math --only-rule --disable-rule --allow-unchecked-rule --check-rules --draws --check-seed --format --verify-each --timing --stats --print-ir-before --print-ir-after --print-ir-after-all --print-ir-after-change --print-ir-tree-dir --pass-pipeline-crash-reproducer --report --remarks --explain --opt-bisect-limit --dump-egraph --dump-egraph-region --list-passes --list-rules --show-dialects --lit-features --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "mic1 mic2 core mil mil-primer mlpackage onnx stablehlo irv2" -- "${cur}"))
                    return 0
                    ;;
                --profile)
                    COMPREPLY=($(compgen -W "core-v1 extended" -- "${cur}"))
                    return 0
                    ;;
                --diagnostic-format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --dim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bind)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -W "mic1 mic2 core mil mil-primer onnx" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ane-report)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --diff)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --canonicalize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --canonicalise)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --channels-last)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cse)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dce)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --simplify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --renumber)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --specialize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unroll)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --quantize-activations)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fuse)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unfuse)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lower-to-tensor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lower-to-loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lower-to-mil)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --import-mil)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pass-pipeline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -O)
                    COMPREPLY=($(compgen -W "0 1 2 3" -- "${cur}"))
                    return 0
                    ;;
                --rules)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fast-math)
                    COMPREPLY=($(compgen -W "nsz nnan reassoc approx" -- "${cur}"))
                    return 0
                    ;;
                --only-rule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable-rule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow-unchecked-rule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --check-rules)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --draws)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --check-seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --verify-each)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --timing)
                    COMPREPLY=($(compgen -W "tree json" -- "${cur}"))
                    return 0
                    ;;
                --stats)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --print-ir-before)
                    COMPREPLY=($(compgen -W "verify canonicalize channels-last cse dce simplify renumber specialize unroll quantize-activations fold fuse unfuse lower-to-tensor lower-to-loops lower-to-mil import-mil" -- "${cur}"))
                    return 0
                    ;;
                --print-ir-after)
                    COMPREPLY=($(compgen -W "verify canonicalize channels-last cse dce simplify renumber specialize unroll quantize-activations fold fuse unfuse lower-to-tensor lower-to-loops lower-to-mil import-mil" -- "${cur}"))
                    return 0
                    ;;
                --print-ir-tree-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pass-pipeline-crash-reproducer)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remarks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --explain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opt-bisect-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dump-egraph)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dump-egraph-region)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --list-passes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --list-rules)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _mind__opt -o nosort -o bashdefault -o default mind-opt
else
    complete -F _mind__opt -o bashdefault -o default mind-opt
fi
