#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The introspection of the service equals units/org.kymo.Trace1.xml. From meson, KYMOD is the daemon
# whose sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl xmllint

start_bus
start_kymod

# interfaces FILE: prints members of kymo's interfaces and their arguments, one per line.
interfaces() {
	xmllint --noblanks --xpath '//interface[starts-with(@name, "org.kymo.")]' "$1" |
		sed 's|<!--|\n&|g; s|>|>\n|g' |
		awk '
			function attribute(name) {
				if (!match($0, " " name "=\"[^\"]*\""))
					return "-"
				return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
			}
			/^ *<!--/ { comment = 1 }
			!comment && /<interface / { interface = attribute("name") }
			!comment && match($0, /<(method|signal|property) /) {
				member = substr($0, RSTART + 1, RLENGTH - 2) " " attribute("name")
				n_args = 0
				print interface, member, attribute("type")
			}
			!comment && /<arg / {
				print interface, member, ++n_args, attribute("name"), attribute("type"), attribute("direction")
			}
			!comment && /EmitsChangedSignal/ { print interface, member, "emits", attribute("value") }
			/-->/ { comment = 0 }
		' | sort
}

# introspect OBJECT
introspect() {
	busctl --address="$BUS" --xml-interface introspect org.kymo.Trace1 "$1"
}

expect_exit 0 "$KYMO" start here -o "$TMP/out" --bus "$BUS"
{
	echo '<node>'
	for object in /org/kymo/Trace1 /org/kymo/Trace1/session/here; do
		introspect $object | sed '/<!DOCTYPE/,/>/d; s/<node>//; s/<\/node>//; /<node /d'
	done
	echo '</node>'
} >"$TMP/service.xml"
cp "$ROOT/units/org.kymo.Trace1.xml" "$TMP/document.xml"
interfaces "$TMP/service.xml" >"$TMP/service"
interfaces "$TMP/document.xml" >"$TMP/document"
assert_ge "$(wc -l <"$TMP/document")" 30 "lines of the documented interface"
diff -u "$TMP/document" "$TMP/service" || fail "the service is not what units/org.kymo.Trace1.xml says"
expect_exit 0 xmllint --noout "$ROOT/units/org.kymo.Trace1.conf"

# The service only asks polkit about actions in the policy, and the rules contain no other actions.
policy=$ROOT/units/org.kymo.Trace1.policy
expect_exit 0 xmllint --noout "$policy"
actions() {
	grep -o 'org\.kymo\.Trace1\.[a-z][a-z-]*' | sort -u
}
asked=$(actions <"$ROOT/daemon/access/rights.c")
assert_eq "$(wc -l <<<"$asked")" 4 "actions"
assert_eq "$(xmllint --xpath '//action/@id' "$policy" | actions)" "$asked" "actions of the policy"
granted=$(sed 's|//.*||' "$ROOT/units/org.kymo.Trace1.rules" | actions)
assert_eq "$granted" "$(grep -v manage <<<"$asked")" "actions that members of the group have"
