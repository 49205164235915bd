/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/capstone-library.h"

#include <pthread.h>

#include "base/cleanup.h"
#include "base/load-library.h"

static struct capstone_library capstone;
static bool capstone_is_loaded; /* atomic: set after `capstone` */
static pthread_mutex_t capstone_loading = PTHREAD_MUTEX_INITIALIZER;

static int capstone_library_load_now(void)
{
	static const struct library_function functions[] = {
		{ "cs_open", offsetof(struct capstone_library, open) },
		{ "cs_close", offsetof(struct capstone_library, close) },
		{ "cs_option", offsetof(struct capstone_library, option) },
		{ "cs_malloc", offsetof(struct capstone_library, malloc) },
		{ "cs_free", offsetof(struct capstone_library, free) },
		{ "cs_disasm_iter", offsetof(struct capstone_library, disasm_iter) },
		{ "cs_regs_access", offsetof(struct capstone_library, regs_access) },
		{ "cs_insn_group", offsetof(struct capstone_library, insn_group) },
	};
	int r = 0;

	pthread_mutex_lock(&capstone_loading);
	if (!__atomic_load_n(&capstone_is_loaded, __ATOMIC_RELAXED))
		r = load_library(CAPSTONE_SONAME, functions, ARRAY_SIZE(functions), &capstone);
	if (r == 0)
		__atomic_store_n(&capstone_is_loaded, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&capstone_loading);
	return r;
}

int capstone_library_load(struct capstone_library *ret)
{
	int r = 0;

	/*
	 * If the library is loaded, this takes no lock: in a sandboxed child, the thread that holds
	 * the lock does not exist.
	 */
	if (!__atomic_load_n(&capstone_is_loaded, __ATOMIC_ACQUIRE))
		r = capstone_library_load_now();
	if (r == 0)
		*ret = capstone;
	return r;
}
