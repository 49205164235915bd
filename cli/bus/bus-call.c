/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of the daemon, and the messages for failed calls.
 */
#include "cli/bus/bus-call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/bus/polkit-agent.h"

/*
 * A signal that is blocked, or that arrives before the wait begins, is seen after this time at the
 * latest.
 */
#define SIGNAL_USEC UINT64_C(200000)

int bus_fail(struct bus_client *c, int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->error, sizeof(c->error), format, ap);
	va_end(ap);
	return error;
}

/*
 * Returns true if E is the answer of a service that does not know the call, because of its version.
 */
static bool bus_call_is_not_understood(const sd_bus_error *e)
{
	return sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_METHOD) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_PROPERTY) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_INTERFACE) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_INVALID_ARGS) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_INVALID_SIGNATURE) ||
	       strncmp(e->message, "there is no option ", strlen("there is no option ")) == 0;
}

int bus_fail_call(struct bus_client *c, int error, const sd_bus_error *e)
{
	if (e && e->message && bus_call_is_not_understood(e) &&
	    strcmp(c->version, KYMO_VERSION) != 0)
		return bus_fail(c, error,
				"the service does not support this: %s (the service is "
				"kymo %s, this is kymo " KYMO_VERSION ")",
				e->message, *c->version ? c->version : "of an older version");
	if (e && e->name &&
	    strncmp(e->name, KYMO_BUS_NAME ".Error.", strlen(KYMO_BUS_NAME ".Error.")) == 0)
		return bus_fail(c, error, "%s", e->message);
	if (bus_is_timeout(error, e) && bus_check_alive(c) < 0)
		return -ETIMEDOUT;
	/* The daemon's own message is also used for this error. */
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
		return bus_fail(c, error, "%s", e->message);
	if (e && e->name &&
	    (strcmp(e->name, SD_BUS_ERROR_NO_REPLY) == 0 ||
	     strcmp(e->name, SD_BUS_ERROR_SERVICE_UNKNOWN) == 0 ||
	     strcmp(e->name, SD_BUS_ERROR_NAME_HAS_NO_OWNER) == 0 ||
	     strcmp(e->name, SD_BUS_ERROR_DISCONNECTED) == 0))
		return bus_fail(c, error, "the service kymod no longer answers");
	if (e && e->message)
		return bus_fail(c, error, "cannot call the service kymod: %s", e->message);
	return bus_fail(c, error, "cannot call the service kymod: %s", strerror(-error));
}

uint64_t bus_call_usec(sd_bus_message *m, uint64_t timeout_usec)
{
	return sd_bus_message_get_allow_interactive_authorization(m) > 0 &&
			       timeout_usec < DIALOGUE_USEC
		       ? DIALOGUE_USEC
		       : timeout_usec;
}

static bool bus_call_never(void)
{
	return false;
}

int bus_call(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec, sd_bus_message **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r;

	if (timeout_usec == UINT64_MAX)
		return bus_call_unless(c, m, timeout_usec, bus_call_never, ret);
	r = sd_bus_call(c->bus, m, bus_call_usec(m, timeout_usec), &e, ret);
	return r < 0 ? bus_fail_call(c, r, &e) : 0;
}

int bus_keep_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	sd_bus_message **answer = userdata;

	*answer = sd_bus_message_ref(m);
	return 0;
}

int bus_check_answer(struct bus_client *c, sd_bus_message *answer)
{
	if (!sd_bus_message_is_method_error(answer, NULL))
		return 0;
	return bus_fail_call(c, -sd_bus_message_get_errno(answer) ?: -EIO,
			     sd_bus_message_get_error(answer));
}

int bus_call_unless(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec,
		    bool (*interrupted)(void), sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *answer = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	int r;

	if (!interrupted)
		return bus_call(c, m, timeout_usec, ret);
	r = sd_bus_call_async(c->bus, &slot, m, bus_keep_answer, &answer,
			      bus_call_usec(m, timeout_usec));
	bus_note_message(c);
	while (r >= 0 && !answer) {
		if (interrupted())
			return -EINTR;
		r = sd_bus_process(c->bus, NULL);
		if (r > 0)
			bus_note_message(c);
		if (r == 0)
			r = sd_bus_wait(c->bus, SIGNAL_USEC);
		if (r == -EINTR)
			r = 0;
		if (r == 0 && bus_check_silence(c) < 0)
			return -ETIMEDOUT;
	}
	if (!answer)
		return bus_fail_call(c, r, NULL);
	r = bus_check_answer(c, answer);
	if (r == 0 && ret)
		*ret = TAKE_PTR(answer);
	return r;
}

int bus_new_call(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret)
{
	bool of_manager = strcmp(path, KYMO_MANAGER_PATH) == 0;
	/* Sessions belong to the daemon that was found, so calls go to its unique name. A call to
	 * the well-known name could start another daemon, which can have another session at that
	 * path. */
	int r = sd_bus_message_new_method_call(
		c->bus, ret, of_manager ? KYMO_BUS_NAME : c->service, path,
		of_manager ? KYMO_MANAGER_INTERFACE : KYMO_SESSION_INTERFACE, method);

	if (r >= 0)
		r = sd_bus_message_set_allow_interactive_authorization(
			*ret, geteuid() != 0 && isatty(STDIN_FILENO));
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

void bus_expect_dialogue(struct bus_client *c)
{
	if (c->agent == 0 && !c->own_bus)
		c->agent = polkit_agent_start();
}

int bus_call_with(struct bus_client *c, const char *path, const char *method, sd_bus_message **ret,
		  const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = bus_new_call(c, path, method, &m);
	va_list ap;

	if (r < 0)
		return r;
	va_start(ap, types);
	r = *types ? sd_bus_message_appendv(m, types, ap) : 0;
	va_end(ap);
	return r < 0 ? bus_fail_call(c, r, NULL) : bus_call(c, m, ANSWER_USEC, ret);
}
