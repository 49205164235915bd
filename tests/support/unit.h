/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every test of cmocka begins with.
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
 * TEST(name) { ... }: a test, which main() lists as cmocka_unit_test(name). What its fixture has
 * made is *state.
 */
#define TEST(name) static void name(void **state __attribute__((unused)))

/* FIXTURE(name) { ... }: what comes before or after a test; anything but 0 is failure. */
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/*
 * Waits until CONDITION holds. How fast a machine gets there is no verdict on what is tested: the
 * bound is only for what never comes, and a wait that is not in vain is as short as it can be.
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
