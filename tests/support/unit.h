/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common begin of all cmocka tests.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* (needs those before it) */
#include <cmocka.h>

/*
 * TEST(name) { ... }: a test, which main() lists as cmocka_unit_test(name). *state is the data of
 * its fixture.
 */
#define TEST(name) static void name(void **state __attribute__((unused)))

/* FIXTURE(name) { ... }: runs before or after a test. Any result except 0 is a failure. */
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/*
 * Waits until CONDITION holds. The speed of the machine must not decide the verdict, so the limit
 * is only for states that never come, and a successful wait ends at once.
 */
#define SOON_MS 60000
#define assert_soon(condition)                                                                     \
	do {                                                                                       \
		int soon_ms = SOON_MS;                                                             \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (soon_ms-- == 0)                                                        \
				fail_msg("not in a minute: %s", #condition);                       \
			usleep(1000);                                                              \
		}                                                                                  \
	} while (0)
