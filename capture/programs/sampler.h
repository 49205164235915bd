/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the sampling program: a perf event on each CPU.
 *
 * Each CPU starts a fraction of the period later than the previous one. So the CPUs do not all
 * sample (and contend) at once, and do not all sample the same tick of the machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct bpf_program;
struct sampler;

/*
 * Returns the available clock: "cycles", or "cpu-clock" on machines without hardware counters; or
 * NULL, with *RETERR set, if samples are unavailable.
 */
const char *sampler_clock(int *reterr);

/*
 * Returns the default categories (enum capture_category). These include samples if samples are
 * available.
 */
uint32_t sampler_default_categories(void);

/*
 * Starts PROG at FREQUENCY on every online CPU of N_CPUS. Takes up to 0.1 s. Returns 0 or a
 * negative errno (-EINVAL: the kernel does not permit the frequency).
 */
int sampler_new(struct bpf_program *prog, unsigned n_cpus, uint32_t frequency,
		struct sampler **ret);

/* Stops sampling. Returns NULL. */
struct sampler *sampler_free(struct sampler *s);

DEFINE_CLEANUP(struct sampler *, sampler_free)

/*
 * Sets the ONLINE CPUs. The events of CPUs that went offline are released, and CPUs that came back
 * sample again.
 */
void sampler_set_online(struct sampler *s, const bool *online);
