/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says why eBPF programs could not be loaded or attached, in a sentence with the messages that
 * libbpf printed in this thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The reasons why a process that has the capabilities is refused bpf() or perf_event_open(). */
enum load_obstacle {
	LOAD_OBSTACLE_UNKNOWN,
	LOAD_OBSTACLE_USER_NAMESPACE, /* its capabilities apply only to a user namespace */
	LOAD_OBSTACLE_LOCKDOWN,       /* kernel lockdown, in the mode "confidentiality" */
	LOAD_OBSTACLE_FILTER,         /* a system call filter, which can be the reason */
};

/* The privileges of this process that matter here. */
struct load_rights {
	bool capable;         /* it has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool locks_freely;    /* RLIMIT_MEMLOCK does not apply */
	uint64_t locks_bytes; /* RLIMIT_MEMLOCK, if it applies */
	enum load_obstacle obstacle;
};

/* Discards libbpf's messages so far. From now on, libbpf prints nothing. */
void load_error_begin(void);

/*
 * Explains that ACTION failed: *RETERR_TEXT is the sentence, with advice (owned by the caller; NULL
 * = no memory). Returns ERROR, a negative errno.
 */
int load_error(int error, const char *action, char **reterr_text);

/* Like load_error(), for perf events, which some kernels restrict further. */
int load_error_perf(int error, const char *action, char **reterr_text);

/*
 * Like load_error(), for a ring of perf events that exceeds the limit on locked memory. Returns
 * -EPERM.
 */
int load_error_memlock(const char *action, char **reterr_text);

/* For tests: RIGHTS are the privileges of this process from now on; NULL = its real privileges. */
void load_error_assume(const struct load_rights *rights);
