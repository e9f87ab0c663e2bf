#!/bin/sh
# completion.sh PROGRAM: prints the bash completion of the program cyclescope. Commands, options and the words that options
# take come from the program's own --help and `list`, so that they are those of this program.
set -eu
program=$1

# section NAME [COMMAND]: the first words of the lines of a section of the help of the program or of a command.
section() {
    name=$1
    shift
    "$program" help "$@" | awk -v name="$name:" '$0 == name { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

# subjects COMMAND: the alternatives `a|b|c` behind the command in its usage lines.
subjects() {
    "$program" help "$1" | awk -v command="$1" '/^ *(usage: )?cyclescope / && sub(".*cyclescope " command " ", "") &&
        $1 ~ /^[a-z-]+(\|[a-z-]+)+$/ { gsub(/\|/, " ", $1); print $1 }'
}

# options COMMAND [SUBJECT]: the options of a command and what each takes: array elements for bash. A value is described by words: those that can
# be given, and @file, @folder, @cores, @events, @estimators, @methods, @stages, @params, @changes; @list says that several can be
# given, separated by commas. Options whose value is optional and behind `=` have a key that ends in `=`.
options() {
    "$program" help "$@" | awk -v command="$*" '
    function takes(option, value, help,    words) {
        if (value ~ /^EVENTS?$/) return value == "EVENTS" ? "@list @events" : "@events"
        if (value == "KEY=VALUE") return "@params"
        if (value == "CHANGES") return "@changes"
        if (option == "--core") return "@cores @file"
        if (option == "--estimator") return "@estimators"
        if (option == "--method") return "@list @methods all"
        if (option == "--stage") return "@list @stages all"
        if (value ~ /FILE|LOG|PROGRAM/) return (value ~ /^[a-z]+\|/ ? substr(value, 1, index(value, "|") - 1) " " : "") "@file"
        if (value ~ /^DIR/) return "@folder"
        if (value ~ /^[a-z]+$/) return value
        # The words of help such as `unit of slices: cycles (default) or insns`.
        if (match(help, /[a-z_]+ \(default\)(, [a-z_]+)*,? or [a-z_]+/)) {
            words = substr(help, RSTART, RLENGTH)
            gsub(/ \(default\)|,| or /, " ", words)
            gsub(/ +/, " ", words)
            return words
        }
        return "@nothing"
    }
    $0 == "options:" { on = 1; next }
    on && match($0, /^  (-[A-Za-z], )?--[a-z-]+/) {
        left = substr($0, 3, RLENGTH - 2)
        rest = substr($0, RLENGTH + 1)
        count = split(left, names, ", ")
        value = ""
        if (match(rest, /^\[=[^]]+\]/)) value = substr(rest, 3, RLENGTH - 3)
        else if (match(rest, /^ [^ ]+/)) value = substr(rest, 2, RLENGTH - 1)
        optional = rest ~ /^\[=/
        all = all " " names[1] (count > 1 ? " " names[2] : "")
        for (i = 1; value != "" && i <= count; i++)
            printf "    [\"%s %s%s\"]=\"%s\"\n", command, names[i], optional ? "=" : "", takes(names[count], value, rest)
    }
    END { printf "    [\"%s\"]=\"%s\"\n", command, substr(all, 2) }'
}

line() { tr '\n' ' ' | sed 's/ $//'; }

commands=$(section commands)
[ -n "$commands" ]

cat <<'EOF'
# Bash completion of cyclescope. It is made from the program's --help and `list` when the program is built.

EOF
echo "_cyclescope_commands=\"$(echo "$commands" | line)\""
echo "_cyclescope_kinds=\"$(section kinds list | line)\""
echo "_cyclescope_cores=\"$("$program" list cores | awk '/^[^ ]/ { print $1 }' | line)\""
echo "_cyclescope_estimators=\"$("$program" list estimators | awk '/^[^ ]/ { print $1 }' | line)\""
echo "_cyclescope_methods=\"$("$program" list methods | awk '$2 == "--method" { print $1 }' | line)\""
echo "_cyclescope_stages=\"$("$program" list methods | awk '$2 == "--stage" { print $1 }' | line)\""
echo "_cyclescope_events=\"$("$program" list events | awk '/^  [^ ]/ { print $1; if ($2 != "-") print $2 }' | line)\""
# Each parameter with `=`; those that take words once more with every word.
echo "_cyclescope_params=\"$("$program" list params | awk '/^[^ ]/ { print $1 "="
    if ($2 ~ /\|/) { count = split($2, words, "|"); for (i = 1; i <= count; i++) print $1 "=" words[i] } }' | line)\""
echo "_cyclescope_changes=\"$("$program" list what-ifs | awk '/^[^ ]/ { print $1 "=" }' | line)\""
echo "declare -A _cyclescope_subjects=("
for command in $commands; do
    found=$(subjects "$command")
    [ -z "$found" ] || echo "    [$command]=\"$found\""
done
echo ")"
echo "# Options by command, and by command and option what the option takes."
echo "declare -A _cyclescope_options=("
for command in $commands; do
    if [ "$command" = help ]; then # its help is that of the program
        echo '    ["help"]="-h --help"'
        continue
    fi
    options "$command"
    for subject in $(subjects "$command"); do
        options "$command" "$subject"
    done
done
echo ")"

cat <<'EOF'

# Offers the words that begin with $2, each behind $1.
_cyclescope_words() {
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$1$word")
    done < <(compgen -W "$3" -- "$2")
}

# Offers files (-f) or folders (-d) that begin with $3, each behind $2.
_cyclescope_paths() {
    local path
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        COMPREPLY+=("$2$path")
    done < <(compgen "$1" -- "$3")
}

# Offers what the option takes that the words $1 describe. $3 is what was typed of it, behind $2.
_cyclescope_value() {
    local takes before=$2 typed=$3
    for takes in $1; do
        case $takes in
        @nothing) ;;
        @list)
            if [[ $typed == *,* ]]; then
                before+=${typed%,*},
                typed=${typed##*,}
            fi
            ;;
        @file) _cyclescope_paths -f "$before" "$typed" ;;
        @folder) _cyclescope_paths -d "$before" "$typed" ;;
        @cores) _cyclescope_words "$before" "$typed" "$_cyclescope_cores" ;;
        @events) _cyclescope_words "$before" "$typed" "$_cyclescope_events" ;;
        @estimators) _cyclescope_words "$before" "$typed" "$_cyclescope_estimators" ;;
        @methods) _cyclescope_words "$before" "$typed" "$_cyclescope_methods" ;;
        @stages) _cyclescope_words "$before" "$typed" "$_cyclescope_stages" ;;
        @params)
            local names=() name
            for name in $_cyclescope_params; do # first the parameter, then its words
                [[ $typed == *=* ]] && [[ $name == *=?* ]] && names+=("$name")
                [[ $typed != *=* ]] && [[ $name == *= ]] && names+=("$name")
            done
            [[ $typed == *=* ]] || compopt -o nospace 2>/dev/null
            _cyclescope_words "$before" "$typed" "${names[*]}"
            ;;
        @changes) # NAME=VALUE, with commas and + between them
            before+=${typed%"${typed##*[,+]}"}
            typed=${typed##*[,+]}
            compopt -o nospace 2>/dev/null
            [[ $typed == *=* ]] || _cyclescope_words "$before" "$typed" "$_cyclescope_changes"
            ;;
        *) _cyclescope_words "$before" "$typed" "$takes" ;;
        esac
    done
}

# Offers the argument number $2 behind the options of command $1: the program, its arguments, files or names.
_cyclescope_argument() {
    case $1.$2 in
    help.0) _cyclescope_words "" "$3" "$_cyclescope_commands" ;;
    list.0) _cyclescope_words "" "$3" "$_cyclescope_kinds" ;;
    list.1) [[ $4 == events ]] && _cyclescope_words "" "$3" "$_cyclescope_events" ;;
    help.1) _cyclescope_words "" "$3" "${_cyclescope_subjects[${4:-?}]-}" ;;
    help.* | list.*) ;;
    *) _cyclescope_paths -f "" "$3" ;;
    esac
}

_cyclescope() {
    # The words as the shell has them: bash splits at `=` and `:` as well.
    local words=() line=${COMP_LINE:0:COMP_POINT} i word blanks=" "
    for ((i = 0; i <= COMP_CWORD; i++)); do
        ((i == 0)) || blanks=${line%%[![:blank:]]*}
        line=${line#"$blanks"}
        ((i < COMP_CWORD)) && word=${COMP_WORDS[i]} || word=$line
        line=${line#"$word"}
        if [[ -n $blanks ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+=$word
        fi
    done
    local last=$((${#words[@]} - 1)) typed
    typed=${words[last]}
    COMPREPLY=()

    if ((last == 1)); then
        _cyclescope_words "" "$typed" "$_cyclescope_commands -h --help -V --version"
        return
    fi
    local command=${words[1]} next=2 option="" arguments=0 first=""
    if ((last > 2)) && [[ " ${_cyclescope_subjects[$command]-} " == *" ${words[2]} "* ]]; then
        command+=" ${words[2]}"
        next=3
    fi
    for (( ; next < last; next++)); do
        word=${words[next]}
        if ((arguments > 0)); then
            ((arguments++))
        elif [[ -n $option ]]; then
            option=""
        elif [[ $word == -- ]]; then
            break
        elif [[ $word == -?* ]]; then
            [[ -z ${_cyclescope_options["$command $word"]-} ]] || option=$word
        else
            first=$word
            arguments=1
        fi
    done

    if ((next < last)); then # behind `--`
        _cyclescope_argument "$command" $((last - next - 1)) "$typed" "${words[next + 1]}"
    elif ((arguments > 0)); then
        _cyclescope_argument "$command" "$arguments" "$typed" "$first"
    elif [[ -n $option ]]; then
        _cyclescope_value "${_cyclescope_options["$command $option"]}" "" "$typed"
    elif [[ $typed == --*=* ]]; then
        option=${typed%%=*}
        _cyclescope_value "${_cyclescope_options["$command $option"]-${_cyclescope_options["$command $option="]-}}" \
            "$option=" "${typed#*=}"
    elif [[ $typed == -* ]]; then
        _cyclescope_words "" "$typed" "${_cyclescope_options[$command]-}"
    else
        ((last > 2)) || _cyclescope_words "" "$typed" "${_cyclescope_subjects[$command]-}"
        _cyclescope_argument "$command" 0 "$typed" ""
    fi

    # Bash replaces only what is behind the last `=` or `:` if it splits words there.
    local breaks=${COMP_WORDBREAKS//[!=:]/} before
    if [[ -n $breaks && $typed == *["$breaks"]* ]]; then
        before=${typed%"${typed##*["$breaks"]}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}
complete -F _cyclescope cyclescope
EOF
