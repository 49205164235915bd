# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for kymo. Verbs and options are asked of kymo itself: what --help says is what is offered.

# The verb on the command line: machines may be named before it.
function __kymo_verb
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case -H -M --host --machine
                set skip 1
            case '-*'
            case '*'
                echo $word
                return 0
        end
    end
    return 1
end

function __kymo_needs_verb
    not __kymo_verb >/dev/null
end

# Verbs, each with what it does behind a tab.
function __kymo_verbs
    kymo --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
    printf 'help\tSay more about a verb\n'
end

# The options of a verb.
function __kymo_options
    kymo (__kymo_verb) --help 2>/dev/null | string match -rag -- '(?:^|[ ,(])(--?[a-zA-Z][a-z-]*)(?=[ =\[,)]|$)' | sort -u
end

function __kymo_sessions
    kymo list --json 2>/dev/null | string match -rg '"name": *"([A-Za-z0-9_]*)"'
end

function __kymo_categories
    printf '%s\n' help default all
    kymo record -e help 2>/dev/null | string match -rg '^([a-z]+)  '
end

function __kymo_verb_is
    contains -- (__kymo_verb) $argv
end

complete -c kymo -n __kymo_needs_verb -f -a '(__kymo_verbs)'
complete -c kymo -n __kymo_needs_verb -f -a '--help --version -V -H -M --socket'
complete -c kymo -n '__kymo_verb_is help' -f -a '(__kymo_verbs)'
complete -c kymo -n 'not __kymo_needs_verb' -a '(__kymo_options)'
complete -c kymo -n '__kymo_verb_is stop status mark context snapshot rotate monitor' -f -a '(__kymo_sessions)'
complete -c kymo -n '__kymo_verb_is record start leaks' -s e -l events -x -a '(__fish_complete_list , __kymo_categories)'
