/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of leak-plant.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOINLINE __attribute__((noinline))

/* Prevents that a call becomes a jump, and that the compiler knows VALUE. */
#define BARRIER(value) __asm__ volatile("" : "+r"(value) : : "memory")

/* BLOCKS with BYTES together remain of the allocations with the stack CHAIN. */
void plant_truth(const char *chain, unsigned blocks, size_t bytes);

/* P is not freed. */
void plant_keep(void *p);

/* An allocation has failed. */
void plant_failed(void);

void plant_die(const char *what) __attribute__((noreturn));

/* Calls operator new; does nothing in programs that are not C++. */
void plant_news(void);
void plant_wide(void); /* aligned */
void plant_exceptions(void);

#ifdef __cplusplus
}
#endif
