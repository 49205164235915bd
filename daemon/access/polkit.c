/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/access/polkit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/common/timeouts.h"

#define AUTHORITY_PATH      "/org/freedesktop/PolicyKit1/Authority"
#define AUTHORITY_INTERFACE "org.freedesktop.PolicyKit1.Authority"
#define ALLOW_INTERACTION   1u

struct polkit_check {
	sd_bus *bus;
	sd_bus_slot *slot; /* pending call, until the answer arrives */
	bool dialogue;
	char cancellation[32]; /* id of the check, with which it can be cancelled */
	polkit_answer_fn fn;
	void *userdata;
};

static void polkit_cancel(struct polkit_check *c)
{
	sd_bus_message *m = NULL;

	if (sd_bus_message_new_method_call(c->bus, &m, POLKIT_NAME, AUTHORITY_PATH,
					   AUTHORITY_INTERFACE, "CancelCheckAuthorization") >= 0 &&
	    sd_bus_message_append(m, "s", c->cancellation) >= 0 &&
	    sd_bus_message_set_expect_reply(m, false) >= 0 &&
	    sd_bus_message_set_auto_start(m, false) >= 0)
		sd_bus_send(c->bus, m, NULL);
	sd_bus_message_unref(m);
}

/*
 * Sets *RET to true if the details, a{ss}, say that the dialogue was cancelled. Returns 0 or a
 * negative errno.
 */
static int polkit_read_dismissed(sd_bus_message *reply, bool *ret)
{
	const char *key, *value;
	int r = sd_bus_message_enter_container(reply, 'a', "{ss}");

	*ret = false;
	while (r >= 0 && (r = sd_bus_message_read(reply, "{ss}", &key, &value)) > 0)
		*ret |= strcmp(key, "polkit.dismissed") == 0 && *value;
	return r < 0 ? r : sd_bus_message_exit_container(reply);
}

/* Reads the answer, a structure (bba{ss}). */
static int polkit_read_answer(sd_bus_message *reply, bool dialogue, enum polkit_answer *ret)
{
	int authorized, challenge, r;
	bool dismissed;

	r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r < 0)
		return r;
	r = sd_bus_message_read(reply, "bb", &authorized, &challenge);
	if (r < 0)
		return r;
	r = polkit_read_dismissed(reply, &dismissed);
	if (r < 0)
		return r;
	if (authorized)
		*ret = POLKIT_YES;
	else if (dismissed || (challenge && dialogue))
		*ret = POLKIT_DISMISSED;
	else
		*ret = challenge ? POLKIT_CHALLENGE : POLKIT_NO;
	return 0;
}

/*
 * Returns true if E means that polkit does not run, and cannot be started. Other errors are
 * failures.
 */
static bool polkit_means_absent(const sd_bus_error *e)
{
	return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static int polkit_on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *reterr)
{
	const sd_bus_error *e = sd_bus_message_get_error(reply);
	enum polkit_answer answer = POLKIT_FAILED;
	struct polkit_check *c = userdata;
	const char *why = "its answer is invalid";
	sd_bus_slot *slot = TAKE_PTR(c->slot);

	if (!e) {
		if (polkit_read_answer(reply, c->dialogue, &answer) < 0)
			answer = POLKIT_FAILED;
	} else if (polkit_means_absent(e)) {
		answer = POLKIT_ABSENT;
	} else if (sd_bus_message_get_errno(reply) == ETIMEDOUT) {
		polkit_cancel(c);
		why = "it does not answer";
	} else {
		why = e->message ?: e->name;
	}
	c->fn(answer, answer == POLKIT_FAILED ? why : NULL, c->userdata);
	sd_bus_slot_unref(slot);
	return 0;
}

static int polkit_fill(sd_bus_message *m, const struct polkit_question *q, const char *cancellation)
{
	return sd_bus_message_append(m, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
				     q->subject, q->action, 0, q->dialogue ? ALLOW_INTERACTION : 0,
				     cancellation);
}

int polkit_check_new(sd_bus *bus, const struct polkit_question *q, struct polkit_check **ret)
{
	static uint64_t last_number;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	struct polkit_check *c;
	int r = sd_bus_message_new_method_call(bus, &m, POLKIT_NAME, AUTHORITY_PATH,
					       AUTHORITY_INTERFACE, "CheckAuthorization");

	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->bus = sd_bus_ref(bus);
	c->dialogue = q->dialogue;
	c->fn = q->fn;
	c->userdata = q->userdata;
	snprintf(c->cancellation, sizeof(c->cancellation), "kymod-%" PRIu64, ++last_number);
	r = polkit_fill(m, q, c->cancellation);
	if (r >= 0)
		r = sd_bus_call_async(bus, &c->slot, m, polkit_on_answer, c,
				      q->dialogue ? timeout_dialogue_usec : timeout_polkit_usec);
	if (r < 0) {
		polkit_check_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

struct polkit_check *polkit_check_free(struct polkit_check *c)
{
	if (!c)
		return NULL;
	if (c->slot)
		polkit_cancel(c);
	sd_bus_slot_unref(c->slot);
	sd_bus_unref(c->bus);
	return free_ptr(c);
}
