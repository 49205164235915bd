#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each eBPF program is loaded by some kind of session, except the programs for which this kernel has
# alternatives.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf

expect_exit 0 "$LOAD_PROGRAMS"
assert_ge "$(awk '$1 == "session"' "$TMP/stdout" | wc -l)" 1 "kinds of sessions"
awk '$1 == "session"' "$TMP/stdout" | facts
# Returns of functions are reported by separate programs, or by those of the calls, as the kernel
# supports it (capture/probes/probes.c). Until 6.15, a separate program reports the begin of an exit
# (capture/programs/fentry.c). Mappings are reported by one of two programs, also as the kernel
# supports it.
awk '$1 == "loaded" && $2 !~ /^on_(memory_(call|return|ret|session)|call_(return|session)|own_exit|unwind_(map|gap|forget))$/' "$TMP/stdout" | sort | facts
# Since Linux 6.2, the programs read the preempt count without a helper.
has_cast=no
! grep ' bpf_rdonly_cast$' /proc/kallsyms >/dev/null || has_cast=yes
assert_eq "$(awk '$1 == "cast" { print $2 }' "$TMP/stdout")" "$has_cast" "whether the preempt count needs no helper"
# The verifier refuses a program for which it examines a million instructions. The number depends on
# the kernel and the compiler, so half of it must be left.
note "programs with the most verified instructions:"
awk '$1 == "verified" { print $2, $3 }' "$TMP/stdout" | sort -rn | sed -n 1,5p | while read -r n name; do
	note "  $n $name"
done
assert_ge "$(awk '$1 == "verified"' "$TMP/stdout" | wc -l)" 1 "programs with a number of verified instructions"
assert_eq "$(awk '$1 == "verified" && $2 == 0 { print $3 }' "$TMP/stdout")" "" "programs without that number"
assert_eq "$(awk '$1 == "verified" && $2 > 500000 { print $3, $2 }' "$TMP/stdout")" "" \
	"programs with more than 500,000 verified instructions"
# The stacks of a program and of all functions that it calls, as Linux 6.1 sums them (suite style:
# stack-depths checks the limit).
note "programs with the deepest stacks, of 512 bytes:"
"$STACK_DEPTHS" "$KYMO_BUILD/bpf/kymo.bpf.o" | sort -k 2,2nr | sed -n 1,5p | while read -r _ n _ name _ rest; do
	note "  $n $name $rest"
done
loaded=" $(awk '$1 == "loaded" { print $2 }' "$TMP/stdout" | tr '\n' ' ')"
unused=$(awk '$1 == "unused" { print $2 }' "$TMP/stdout" | tr '\n' ' ')
note "$(wc -w <<<"$loaded") programs are loaded; not used on this kernel: ${unused:-none}"
for name in $unused; do
	case $name in
	on_memory_return | on_memory_session | on_call_return | on_call_session) ;;
	on_own_exit | on_unwind_map | on_unwind_gap | on_unwind_forget) ;;
	*) fail "no session has loaded $name" ;;
	esac
done
case $loaded in
*" on_memory_return "* | *" on_memory_session "*) ;;
*) fail "no program sees the returns of functions" ;;
esac
"$KYMO" capabilities --direct --json >"$TMP/capabilities.json"
gojq -r 'to_entries[] | "- \(.key): \(.value | tojson)"' "$TMP/capabilities.json"
gojq -r 'to_entries[] | select(.value.available) | "capability \(.key)"' "$TMP/capabilities.json" | sort | facts
