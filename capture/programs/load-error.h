/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why programs could not be loaded or attached, in a sentence with what libbpf has said about it,
 * in this thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What this process may, as far as it matters here. */
struct load_rights {
	bool capable;         /* it has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool locks_freely;    /* RLIMIT_MEMLOCK does not count */
	uint64_t locks_bytes; /* that limit, else */
};

/* What libbpf has said so far does not matter. It says nothing to anybody else from now on. */
void load_error_begin(void);

/*
 * It was not possible to DEED: *RETERR_TEXT is the sentence, with advice (owned by the caller; NULL
 * without memory). Returns ERROR, a negative errno.
 */
int load_error(int error, const char *deed, char **reterr_text);

/* Likewise, where it takes perf events, which some kernels give to fewer. */
int load_error_perf(int error, const char *deed, char **reterr_text);

/* Likewise: a ring of perf events exceeds the limit on locked memory. Returns -EPERM. */
int load_error_memlock(const char *deed, char **reterr_text);

/* For tests: RIGHTS are what this process may, from now on; NULL: what it may in truth. */
void load_error_assume(const struct load_rights *rights);
