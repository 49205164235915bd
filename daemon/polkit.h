/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One question to polkit: may that connection do this? Asked over the bus, without waiting
 * (org.freedesktop.PolicyKit1.Authority.CheckAuthorization).
 *
 * The subject is the unique name of a connection, which is never used again and of which polkit
 * asks the bus itself who it is: nothing about processes is looked up, so nothing can be raced.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"

#define POLKIT_NAME "org.freedesktop.PolicyKit1"

enum polkit_answer {
	POLKIT_UNASKED,
	POLKIT_YES,
	POLKIT_NO,
	POLKIT_CHALLENGE, /* only after a dialogue, which was not allowed */
	POLKIT_DISMISSED, /* the dialogue was given up, or led to nothing */
	POLKIT_ABSENT,    /* there is no polkit on this bus */
	POLKIT_FAILED,    /* it did not say, or nothing that makes sense */
};

struct polkit_check;

/* The answer is there; WHY is a few words for people with POLKIT_FAILED. The check may be freed. */
typedef void (*polkit_answer_fn)(enum polkit_answer answer, const char *why, void *userdata);

struct polkit_question {
	const char *subject; /* unique name */
	const char *action;
	bool dialogue; /* somebody may be asked for a password */
	polkit_answer_fn fn;
	void *userdata;
};

/*
 * FN is called once, never before this returns; not any more once the check is freed. Returns 0 or
 * a negative errno.
 */
int polkit_check_new(sd_bus *bus, const struct polkit_question *q, struct polkit_check **ret);

/*
 * Notifies polkit that nobody waits any more, if it has not answered: a dialogue goes away. Returns
 * NULL.
 */
struct polkit_check *polkit_check_free(struct polkit_check *c);

DEFINE_CLEANUP(struct polkit_check *, polkit_check_free)
