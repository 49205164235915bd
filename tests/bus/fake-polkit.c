/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A replacement of polkit on the bus in KYMO_TEST_BUS. Tests choose its answers by the interface
 * org.kymo.Test.Polkit: for each action one of
 *
 *	yes, no     allowed, denied
 *	challenge   a dialogue is needed; if the caller allows one, it succeeds
 *	dismissed   a dialogue is needed; if the caller allows one, it is dismissed
 *	hold        no answer, until Release allows all waiting calls
 *	error, nonsense, die   an error; an answer of the wrong type; the authority ends at once
 *
 * The default is "no".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"

enum { ACTIONS_MAX = 8, HELD_MAX = 256 };

#define PATH "/org/freedesktop/PolicyKit1/Authority"

static struct action {
	char name[64];
	char how[16];
	uint32_t n_asked, n_dialogues;
} actions[ACTIONS_MAX];

static struct held {
	sd_bus_message *call;
	char cancellation[64];
} held[HELD_MAX];

static size_t n_held;
static uint32_t n_cancelled;

static struct action *action_of(const char *name)
{
	for (size_t i = 0; i < ACTIONS_MAX; i++) {
		if (!*actions[i].name) {
			snprintf(actions[i].name, sizeof(actions[i].name), "%s", name);
			strcpy(actions[i].how, "no");
		}
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	}
	fprintf(stderr, "fake-polkit: too many actions\n");
	exit(1);
}

static int answer(sd_bus_message *call, bool yes, bool challenge, bool dismissed)
{
	if (dismissed)
		return sd_bus_reply_method_return(call, "(bba{ss})", yes, challenge, 1,
						  "polkit.dismissed", "true");
	return sd_bus_reply_method_return(call, "(bba{ss})", yes, challenge, 0);
}

static int keep(sd_bus_message *call, const char *cancellation)
{
	if (n_held == HELD_MAX)
		return -ENOBUFS;
	held[n_held].call = sd_bus_message_ref(call);
	snprintf(held[n_held].cancellation, sizeof(held[n_held].cancellation), "%s", cancellation);
	n_held++;
	return 1;
}

static int method_check(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	const char *kind, *key, *subject, *name, *cancellation;
	struct action *a;
	bool dialogue;
	uint32_t flags;
	int r;

	(void)userdata;
	r = sd_bus_message_read(call, "(sa{sv})s", &kind, 1, &key, "s", &subject, &name);
	if (r >= 0)
		r = sd_bus_message_skip(call, "a{ss}");
	if (r >= 0)
		r = sd_bus_message_read(call, "us", &flags, &cancellation);
	if (r < 0)
		return r;
	if (strcmp(kind, "system-bus-name") != 0 || strcmp(key, "name") != 0 || *subject != ':')
		return sd_bus_error_set(reterr, SD_BUS_ERROR_INVALID_ARGS, "what a subject");
	a = action_of(name);
	dialogue = flags & 1;
	a->n_asked++;
	a->n_dialogues += dialogue;
	if (strcmp(a->how, "hold") == 0)
		return keep(call, cancellation);
	if (strcmp(a->how, "die") == 0)
		exit(0);
	if (strcmp(a->how, "error") == 0)
		return sd_bus_error_set(reterr, "org.freedesktop.PolicyKit1.Error.Failed",
					"the rules are broken");
	if (strcmp(a->how, "nonsense") == 0)
		return sd_bus_reply_method_return(call, "s", "yes");
	if (strcmp(a->how, "challenge") == 0)
		return answer(call, dialogue, !dialogue, false);
	if (strcmp(a->how, "dismissed") == 0)
		return answer(call, false, true, dialogue);
	return answer(call, strcmp(a->how, "yes") == 0, false, false);
}

static int method_cancel(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	const char *cancellation;
	int r = sd_bus_message_read(call, "s", &cancellation);

	(void)userdata;
	(void)reterr;
	for (size_t i = 0; r >= 0 && i < n_held; i++) {
		if (strcmp(held[i].cancellation, cancellation) == 0)
			n_cancelled++;
	}
	return r < 0 ? r : sd_bus_reply_method_return(call, NULL);
}

static int method_set_answer(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	const char *name, *how;
	struct action *a;
	int r = sd_bus_message_read(call, "ss", &name, &how);

	(void)userdata;
	(void)reterr;
	if (r < 0)
		return r;
	a = action_of(name);
	snprintf(a->how, sizeof(a->how), "%s", how);
	return sd_bus_reply_method_return(call, NULL);
}

static int method_get_counts(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	const struct action *a;
	const char *name;
	int r = sd_bus_message_read(call, "s", &name);

	(void)userdata;
	(void)reterr;
	if (r < 0)
		return r;
	a = action_of(name);
	return sd_bus_reply_method_return(call, "uuuu", a->n_asked, a->n_dialogues,
					  (uint32_t)n_held, n_cancelled);
}

/* Cancelled questions are answered, too, like by an authority that gets the cancellation late. */
static int method_release(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	(void)userdata;
	(void)reterr;
	for (size_t i = 0; i < n_held; i++) {
		answer(held[i].call, true, false, false);
		sd_bus_message_unref(held[i].call);
	}
	n_held = 0;
	return sd_bus_reply_method_return(call, NULL);
}

static int method_change(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	int r = sd_bus_emit_signal(sd_bus_message_get_bus(call), PATH,
				   "org.freedesktop.PolicyKit1.Authority", "Changed", NULL);

	(void)userdata;
	(void)reterr;
	return r < 0 ? r : sd_bus_reply_method_return(call, NULL);
}

/* clang-format off */
static const sd_bus_vtable control[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("SetAnswer", "ss", "", method_set_answer, SD_BUS_VTABLE_UNPRIVILEGED),
	/*
	 * of one action: questions, and those with a dialogue; of all: waiting ones, and cancelled
	 * ones
	 */
	SD_BUS_METHOD("GetCounts", "s", "uuuu", method_get_counts, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Release", "", "", method_release, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Change", "", "", method_change, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

/* Not by a vtable, which would require the right type of the answer. */
static int on_authority(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *interface = "org.freedesktop.PolicyKit1.Authority";

	if (sd_bus_message_is_method_call(m, interface, "CheckAuthorization"))
		return method_check(m, userdata, reterr);
	if (sd_bus_message_is_method_call(m, interface, "CancelCheckAuthorization"))
		return method_cancel(m, userdata, reterr);
	return 0;
}

static int serve(sd_bus *bus)
{
	int r = sd_bus_add_object(bus, NULL, PATH, on_authority, NULL);

	if (r >= 0)
		r = sd_bus_add_object_vtable(bus, NULL, PATH, "org.kymo.Test.Polkit", control,
					     NULL);
	if (r >= 0)
		r = sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	return r;
}

int main(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	const char *address = getenv("KYMO_TEST_BUS");
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, address ?: "");
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = serve(bus);
	if (r != -ECONNRESET && r != -ENOTCONN)
		fprintf(stderr, "fake-polkit: %s\n", strerror(-r));
	return r < 0;
}
