# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How much slower this machine is now than a quiet one. All limits of time in tests are scaled by
# it, so that a test fails for an answer of kymo and not for the load of the machine.
#
#	. tests/slowness.sh       measures once, and defines the functions below
#	tests/slowness.sh         measures, and prints the factor
#
# KYMO_TEST_BUILD_FACTOR multiplies all limits: builds with sanitizers, and valgrind, need longer on
# every machine. KYMO_TEST_SLOWNESS is the minimum factor; tools/run-tests sets it from the times of
# the start and the end of a recording.

# The measured work: numbers of processes and turns of a loop. A quiet machine of 2 CPUs needs
# SLOWNESS_QUIET_US for it.
SLOWNESS_PROCESSES=10
SLOWNESS_TURNS=5000
SLOWNESS_QUIET_US=30000
SLOWNESS_MOST=8

# (EPOCHREALTIME has the decimal separator of the language.)

# slowness_measure: sets SLOWNESS, 1 to SLOWNESS_MOST
slowness_measure() {
	local n begin=${EPOCHREALTIME/[.,]/} least=${KYMO_TEST_SLOWNESS:-1}

	for ((n = 0; n < SLOWNESS_PROCESSES; n++)); do
		/bin/true
	done
	for ((n = 0; n < SLOWNESS_TURNS; n++)); do
		:
	done
	SLOWNESS=$(((${EPOCHREALTIME/[.,]/} - begin + SLOWNESS_QUIET_US - 1) / SLOWNESS_QUIET_US))
	SLOWNESS=$((SLOWNESS > least ? SLOWNESS : least))
	SLOWNESS=$((SLOWNESS < SLOWNESS_MOST ? SLOWNESS : SLOWNESS_MOST))
	SLOWNESS=$((SLOWNESS > 1 ? SLOWNESS : 1))
	SLOWNESS_AT=$SECONDS
}

# limit SECONDS: prints the seconds that something may take here that takes at most SECONDS on a
# quiet machine. For timeout(1).
limit() {
	[ $((SECONDS - SLOWNESS_AT)) -lt 10 ] || slowness_measure
	echo $(($1 * ${KYMO_TEST_BUILD_FACTOR:-1} * SLOWNESS))
}

# wait_for SECONDS COMMAND ...: until COMMAND succeeds. False if it did not within `limit SECONDS`, in
# at least 20 tries.
wait_for() {
	local tries=0 measured='' begin=${EPOCHREALTIME/[.,]/} most=$(($1 * 1000000 * ${KYMO_TEST_BUILD_FACTOR:-1}))

	shift
	while ! "$@" >/dev/null 2>&1; do
		if [ $((++tries)) -ge 20 ] && [ $((${EPOCHREALTIME/[.,]/} - begin)) -gt "$most" ]; then
			# (Nothing is measured while the answer comes in time.)
			[ -z "$measured" ] || return 1
			measured=yes
			slowness_measure
			most=$((most * SLOWNESS))
		fi
		sleep 0.05
	done
}

slowness_measure
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	echo "$SLOWNESS"
fi
