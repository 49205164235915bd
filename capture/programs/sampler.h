/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes the sampling program run: a perf event on each CPU.
 *
 * CPUs are out of phase: each begins a share of the period later than the one before, so that they
 * do not all sample (and contend) at one moment, nor all see the same tick of the machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct bpf_program;
struct sampler;

/* What can count: "cycles", or "cpu-clock" on machines without hardware counters; or NULL, with
 * *RETERR set, if no samples can be taken here. */
const char *sampler_clock(int *reterr);

/*
 * What is recorded where nobody says what (enum category): samples, too, where they can be taken.
 */
uint32_t sampler_default_categories(void);

/* Begins to run PROG at FREQUENCY on every CPU of N_CPUS that is online. Takes up to 0.1 s. Returns
 * 0 or a negative errno (-EINVAL: the kernel does not allow the frequency). */
int sampler_new(struct bpf_program *prog, unsigned n_cpus, uint32_t frequency,
		struct sampler **ret);

/* Stops. Returns NULL. */
struct sampler *sampler_free(struct sampler *s);

DEFINE_CLEANUP(struct sampler *, sampler_free)

/* Whether they are ONLINE: those that are gone are let go, those that are back sample again. */
void sampler_set_online(struct sampler *s, const bool *online);
