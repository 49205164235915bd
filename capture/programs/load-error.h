/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reason why programs could not be loaded or attached, as a sentence with libbpf's messages in
 * this thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The relevant privileges of this process. */
struct load_rights {
	bool capable;         /* it has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool locks_freely;    /* RLIMIT_MEMLOCK does not count */
	uint64_t locks_bytes; /* RLIMIT_MEMLOCK, if it counts */
};

/* Discards libbpf's messages so far. From now on, libbpf prints nothing. */
void load_error_begin(void);

/*
 * DEED failed: *RETERR_TEXT is the sentence, with advice (owned by the caller; NULL without
 * memory). Returns ERROR, a negative errno.
 */
int load_error(int error, const char *deed, char **reterr_text);

/* The same, for perf events, which some kernels restrict further. */
int load_error_perf(int error, const char *deed, char **reterr_text);

/* The same: a ring of perf events exceeds the limit on locked memory. Returns -EPERM. */
int load_error_memlock(const char *deed, char **reterr_text);

/* For tests: RIGHTS are the privileges of this process from now on; NULL: the real ones. */
void load_error_assume(const struct load_rights *rights);
