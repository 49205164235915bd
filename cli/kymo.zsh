#compdef kymo
# SPDX-License-Identifier: GPL-2.0-or-later
#
# zsh completion for kymo. Verbs and options are asked of kymo itself: what --help says is what is offered.

# Sets "verbs": each with what it does behind a colon.
_kymo_verbs()
{
	verbs=(${(f)"$(kymo --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
	verbs+=('help:Say more about a verb')
}

# Sets "options" of a verb.
_kymo_options()
{
	options=(${(f)"$(kymo $1 --help 2>/dev/null |
		grep -oE -- '(^|[ ,(])--?[a-zA-Z][a-z-]*' | tr -d ' ,(' | sort -u)"})
}

_kymo_sessions()
{
	local -a sessions

	sessions=(${(f)"$(kymo list --json 2>/dev/null | sed -n 's/.*"name": *"\([A-Za-z0-9_]*\)".*/\1/p')"})
	compadd -a sessions
}

_kymo()
{
	local -a verbs options categories
	local verb at=2

	# Machines may be named before the verb.
	while (( at < CURRENT )); do
		case $words[at] in
		(-H|-M|--host|--machine) (( at += 2 )) ;;
		(-*) (( at++ )) ;;
		(*) break ;;
		esac
	done
	if (( at >= CURRENT )); then
		_kymo_verbs
		_describe verb verbs
		[[ $words[CURRENT] != -* ]] || compadd -- --help --version -V -H --host -M --machine --socket
		return
	fi
	verb=$words[at]
	if [[ $verb == help ]]; then
		_kymo_verbs
		_describe verb verbs
		return
	fi
	if (( ${words[(ie)--]} < CURRENT )); then
		# Behind "--" is a command of its own.
		words=("${(@)words[${words[(ie)--]}+1,-1]}")
		(( CURRENT = $#words ))
		_normal
		return
	fi
	if [[ $words[CURRENT-1] == (-e|--events) ]]; then
		categories=(help default all
			${(f)"$(kymo record -e help 2>/dev/null | sed -n 's/^\([a-z]\{1,\}\)  .*/\1/p')"})
		_values -s , category ${(u)categories}
		return
	fi
	if [[ $words[CURRENT] == -* ]]; then
		_kymo_options $verb
		compadd -a -- options
		return
	fi
	case $verb in
	(stop|status|mark|context|snapshot|rotate|monitor) _kymo_sessions ;;
	(*) _files ;;
	esac
}

_kymo "$@"
