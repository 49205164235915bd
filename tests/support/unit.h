/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common begin of all cmocka tests.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* (needs those before it) */
#include <cmocka.h>

/*
 * TEST(name) { ... }: a test, which main() lists as cmocka_unit_test(name). *state is the data of
 * its fixture.
 */
#define TEST(name) static void name(void **state __attribute__((unused)))

/* The factor by which limits of time are longer: 1, 3 with sanitizers, 10 in valgrind
 * (tests/support/meson.build). */
static inline unsigned unit_build_factor(void)
{
	const char *factor = getenv("KYMO_TEST_BUILD_FACTOR");

	return factor && atoi(factor) > 1 ? (unsigned)atoi(factor) : 1;
}

/* True if the test runs in valgrind, which is some 30 times slower. */
static inline bool unit_is_in_valgrind(void)
{
	return unit_build_factor() >= 10;
}

/*
 * Returns how often to repeat a test with other random data, if an ordinary build repeats it N
 * times: less often with sanitizers and in valgrind. These look for errors of memory, which more
 * rounds hardly ever find, and an ordinary build compares all results.
 */
static inline unsigned unit_rounds(unsigned n)
{
	return n / unit_build_factor() > 0 ? n / unit_build_factor() : 1;
}

/*
 * LARGE_TEST(name) { ... }: a test with large amounts of the data that other tests have. It needs
 * many seconds in valgrind and would find nothing new there, so it does not run there.
 */
#define LARGE_TEST(name)                                                                           \
	static void name##_body(void **state);                                                     \
	TEST(name)                                                                                 \
	{                                                                                          \
		if (!unit_is_in_valgrind())                                                        \
			name##_body(state);                                                        \
	}                                                                                          \
	TEST(name##_body)

/* FIXTURE(name) { ... }: runs before or after a test. Any result except 0 is a failure. */
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/*
 * Waits until CONDITION holds. The speed of the machine must not decide the verdict, so the limit
 * is long: it is reached only if CONDITION never comes true. A successful wait ends at once.
 */
#define SOON_MS ((int)(60000 * unit_build_factor()))
#define assert_soon(condition)                                                                     \
	do {                                                                                       \
		int soon_ms = SOON_MS;                                                             \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (soon_ms-- == 0)                                                        \
				fail_msg("not in %d s: %s", SOON_MS / 1000, #condition);           \
			usleep(1000);                                                              \
		}                                                                                  \
	} while (0)
