/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every test of cmocka begins with.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* (needs those before it) */
#include <cmocka.h>

/*
 * TEST(name) { ... }: a test, which main() lists as cmocka_unit_test(name). What its fixture has
 * made is *state.
 */
#define TEST(name) static void name(void **state __attribute__((unused)))

/* FIXTURE(name) { ... }: what comes before or after a test; anything but 0 is failure. */
#define FIXTURE(name) static int name(void **state __attribute__((unused)))
