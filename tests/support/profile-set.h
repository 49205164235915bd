/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording with call stacks whose truth is known: what is mapped when, who runs where, which
 * stack was seen how often. Its archives are in tests/golden/fxt: profile.fxt, with names
 * (EVENT_FRAME), and profile-bare.fxt without them.
 *
 * Process 100 "app" runs on CPU 0 (thread 100) and CPU 1 (thread 101 "reader", until it leaves);
 * process 200 has a name and functions that want to break out of whatever they are printed into.
 * Process 300 is a child of app, which samples see before and after its exec.
 */
#pragma once

#include <stddef.h>

#include "model/event.h"

enum {
	PROFILE_SET_CPUS = 2,
	PROFILE_SET_SAMPLES = 15,    /* on CPU */
	PROFILE_SET_OFFCPU = 3,      /* times off CPU */
	PROFILE_SET_OFFCPU_MS = 100, /* sum of them */
};

const struct event *profile_set(size_t *ret_n);

/* Writes it into OUT, with names or without. Aborts when that fails. */
struct outbuf;
void profile_set_write(struct outbuf *out, bool names);
