#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The units as meson has made them: systemd has nothing to say against them, kymod.service is as
# closed as it is promised to be, and each capability that it has is given a reason.

. "$(dirname "$0")/../lib.sh"
need_command systemd-analyze pkg-config gojq

units=$KYMO_BUILD/units
grep -q -- --offline <<<"$(systemd-analyze security --help)" ||
	skip "this systemd-analyze looks at no units in files"

# Programs that are not installed are complained about: those of this build stand for them. So do
# instances for templates.
mkdir "$TMP/units"
for unit in kymod.service kymo-perf.service kymo-collect@.service kymo-ship@.service kymo-snapshot@.service; do
	sed "s|/[^ ]*/kymod |$KYMOD |; s|/[^ ]*/kymo |$KYMO |" "$units/$unit" >"$TMP/units/${unit/@/@x}"
done
for unit in "$TMP"/units/*; do
	expect_exit 0 systemd-analyze verify --man=no "$unit"
	assert_empty "$TMP/stderr" "the answer of systemd about ${unit##*/}"
	assert_empty "$TMP/stdout" "the answer of systemd about ${unit##*/}"
done
expect_exit 0 systemd-analyze security --offline=yes --threshold=25 --no-pager "$units/kymod.service"

# The unit gives a reason for each row that counts, and for no other.
systemd-analyze security --offline=yes --json=short --no-pager "$units/kymod.service" |
	gojq -r '.[] | select((.exposure // "0" | tonumber) > 0) | .name' | sort >"$TMP/rows"
assert_ge "$(wc -l <"$TMP/rows")" 10 "rows that count"
sed -n 's/^#   0\.[0-9] \([^ ]*\).*/\1/p' "$units/kymod.service" | sort >"$TMP/reasons"
assert_eq "$(comm -23 "$TMP/rows" "$TMP/reasons")" "" "rows that count, without a reason in the unit"
[ "$(systemctl --version | awk 'NR == 1 { print $2 }')" -gt 252 ] ||
	assert_eq "$(comm -13 "$TMP/rows" "$TMP/reasons")" "" "reasons for what does not count"

capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$units/kymod.service")
assert_ge "$(wc -w <<<"$capabilities")" 2 "capabilities"
assert_eq "$(sed -n 's/^CapabilityBoundingSet=//p' "$units/kymo-perf.service")" CAP_SYS_ADMIN "capabilities of who opens perf events"
expect_exit 0 systemd-analyze security --offline=yes --threshold=20 --no-pager "$units/kymo-perf.service"
assert_eq "$(sed -n 's/^CapabilityBoundingSet=//p' "$units/kymo-ship@.service")" CAP_DAC_READ_SEARCH "capabilities of the export"
expect_exit 0 systemd-analyze security --offline=yes --threshold=20 --no-pager "$units/kymo-ship@.service"
assert_eq "$(sed -n 's/^OOMPolicy=//p' "$units/kymo-ship@.service")" continue "what the export does after a converter was killed"
for capability in $capabilities; do
	case $capability in
	CAP_SYS_ADMIN | CAP_SYS_RESOURCE) fail "the service has $capability" ;;
	esac
	assert_contains <(grep '^#' "$units/kymod.service") "\b$capability\b.* [a-z]+ " "$capability, and why"
done

expect_exit 0 env PKG_CONFIG_PATH="$units" pkg-config --variable=interfacedir kymo
assert_contains "$TMP/stdout" '^/.*/dbus-1/interfaces$' "where the interface is, by pkg-config"
