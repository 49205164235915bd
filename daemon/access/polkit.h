/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks polkit whether a connection has a right. The question is an asynchronous call on the bus
 * (org.freedesktop.PolicyKit1.Authority.CheckAuthorization).
 *
 * The subject is the unique name of a connection, which is never reused. polkit gets the
 * credentials of the connection from the bus, not from data about processes, so there are no races.
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
	POLKIT_CHALLENGE, /* the right needs a dialogue, which the question did not allow */
	POLKIT_DISMISSED, /* the user cancelled the dialogue, or failed to authenticate */
	POLKIT_ABSENT,    /* polkit is not on this bus */
	POLKIT_FAILED,    /* no answer, or an invalid one */
};

struct polkit_check;

/*
 * Called with the answer. With POLKIT_FAILED, WHY is a few words for users. The function may free
 * the check.
 */
typedef void (*polkit_answer_fn)(enum polkit_answer answer, const char *why, void *userdata);

struct polkit_question {
	const char *subject; /* unique name of the connection */
	const char *action;
	bool dialogue; /* polkit may ask the user for a password */
	polkit_answer_fn fn;
	void *userdata;
};

/*
 * Starts the check. FN is called once, after this function has returned, and never after the check
 * is freed. Returns 0 or a negative errno.
 */
int polkit_check_new(sd_bus *bus, const struct polkit_question *q, struct polkit_check **ret);

/*
 * Frees the check. If polkit has not answered yet, the question is cancelled, and polkit closes its
 * dialogue. Returns NULL.
 */
struct polkit_check *polkit_check_free(struct polkit_check *c);

DEFINE_CLEANUP(struct polkit_check *, polkit_check_free)
