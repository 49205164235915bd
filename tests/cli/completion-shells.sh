#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completions of zsh and fish: all verbs of the table and the options of each, as in --help.
# (The tests `help` and `completion` check that of bash.)

. "$(dirname "$0")/../lib.sh"
mkdir "$TMP/bin"
ln -s "$(realpath "$KYMO")" "$TMP/bin/kymo"
PATH=$TMP/bin:$PATH
kymo --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' | sort >"$TMP/verbs"
assert_ge "$(wc -l <"$TMP/verbs")" 20 "verbs"

# options VERB: prints the long options in its help
options() {
	kymo "$1" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

in_fish() {
	fish --no-config -c "source '$ROOT/cli/kymo.fish'; complete -C '$1'" | cut -f1 | sort -u
}

# (with what would add matches printing them)
in_zsh() {
	zsh -f -c '
		_describe() { print -l -- ${${(P)2}%%:*}; }
		_values() { shift 3; print -l -- $@; }
		_files() { print files; }
		compadd() {
			local word
			if [[ $1 == -a ]]; then
				shift
				[[ $1 != -- ]] || shift
				print -l -- ${(P)1}
			else
				[[ $1 != -- ]] || shift
				print -l -- $@
			fi
		}
		words=("${(@s: :)2}")
		CURRENT=$#words
		source $1' - "$ROOT/cli/kymo.zsh" "$1" | sort -u
}

n=0
for shell in fish zsh; do
	command -v $shell >/dev/null || {
		note "not tested: there is no $shell"
		continue
	}
	n=$((n + 1))
	note "$shell"
	for typed in "kymo " "kymo help " "kymo -H host "; do
		in_$shell "$typed" >"$TMP/offered"
		comm -23 "$TMP/verbs" "$TMP/offered" >"$TMP/missing"
		assert_empty "$TMP/missing" "verbs that $shell does not offer behind '$typed'"
	done
	while read -r verb; do
		in_$shell "kymo $verb --" >"$TMP/offered"
		options "$verb" | comm -23 - "$TMP/offered" >"$TMP/missing"
		assert_empty "$TMP/missing" "options of $verb that $shell does not offer"
	done <"$TMP/verbs"
	in_$shell "kymo record -e " | grep -x sched >/dev/null || fail "$shell does not offer the categories"
done
[ $n -gt 0 ] || skip "there is neither zsh nor fish"
