#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each program of the object is loaded by some kind of session, but for those that this kernel has
# others for.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf

expect_exit 0 "$LOAD_PROGRAMS"
assert_ge "$(awk '$1 == "session"' "$TMP/stdout" | wc -l)" 1 "kinds of sessions"
awk '$1 == "session"' "$TMP/stdout" | facts
# Returns of functions are seen by programs of their own, or by those that see the call, as the
# kernel can (capture/probes/probes.c); and until 6.15 it takes a program to see who begins to
# exit (capture/programs/fentry.c). What is mapped is seen by one program or the other, likewise.
awk '$1 == "loaded" && $2 !~ /^on_(memory_(call|return|ret|session)|call_(return|session)|own_exit|unwind_(map|gap|forget))$/' "$TMP/stdout" | sort | facts
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
"$KYMO" capabilities --direct | awk '{ print "- " $0 }'
"$KYMO" capabilities --direct --json | gojq -r 'to_entries[] | select(.value.available) | "capability \(.key)"' | sort | facts
