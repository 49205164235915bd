# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same key makes the same words; of the names, only kymo's are left.
head -c 32 "$T/golden" >key
kymo redact --key key "$T/small" out 2>/dev/null
kymo redact --key key "$T/small" again 2>/dev/null
cmp out again && echo "the same"
kymo redact "$T/small" random 2>/dev/null
cmp -s out random || echo "another"
kymo dump out | grep -v '  string '
if grep -aE 'worker|box|half|/bin|sh -c' out; then
	echo "names are left"
fi
