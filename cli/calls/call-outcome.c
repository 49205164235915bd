/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calls/call-outcome.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/calls/call-print.h"
#include "model/calls/call-sets.h"

const struct call_value *call_outcome_ready(const struct event *call)
{
	const struct call_value *last =
		call->call.n_args > 0 ? &call->call.args[call->call.n_args - 1] : NULL;

	return last && last->form == CALL_VALUE_TEXT && strcmp(last->name, EVENT_CALL_READY) == 0
		       ? last
		       : NULL;
}

bool call_outcome_is_never(const struct event *call)
{
	return call->call.result.form == CALL_VALUE_NONE &&
	       (strcmp(call->call.function, "exit") == 0 ||
		strcmp(call->call.function, "exit_group") == 0);
}

static bool call_outcome_is_wait(const char *function)
{
	static const char *const names[] = { "poll", "ppoll", "select", "pselect6", "recvmmsg" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], function) == 0)
			return true;
	return false;
}

static const char *call_outcome_set(const struct event *call)
{
	const struct call_value *command = &call->call.args[1];

	if (strcmp(call->call.function, "rt_sigtimedwait") == 0)
		return "enum:signal";
	if (strcmp(call->call.function, "fcntl") != 0 || call->call.n_args < 2 ||
	    command->form != CALL_VALUE_TEXT)
		return NULL;
	if (strcmp(command->text, "F_GETFL") == 0)
		return "flags:open_status";
	return strcmp(command->text, "F_GETFD") == 0 ? "flags:fd_flags" : NULL;
}

size_t call_outcome_format(const struct event *call, char *to, size_t size)
{
	const struct call_value *result = &call->call.result, *ready = call_outcome_ready(call);
	struct call_print p = call_print_begin(to, size);
	const char *set = call_outcome_set(call);
	char words[CALL_SET_TEXT_MAX];

	if (result->form != CALL_VALUE_INT || result->i64 < 0)
		return 0;
	if (call_outcome_is_wait(call->call.function) && result->i64 == 0) {
		call_print_add(&p, "0 (Timeout)");
	} else if (ready) {
		call_print_add(&p, "%" PRId64 " (%s)", result->i64, ready->text);
	} else if (set && (result->i64 > 0 || strcmp(set, "flags:open_status") == 0)) {
		call_set_format(call_set_find(set, strlen(set)), result->u64, words, sizeof(words));
		if (strncmp(set, "flags:", strlen("flags:")) == 0)
			call_print_add(&p, "%#" PRIx64 " (flags %s)", result->u64, words);
		else
			call_print_add(&p, "%" PRId64 " (%s)", result->i64, words);
	}
	return p.used;
}
