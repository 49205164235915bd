/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/message-weight.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Types whose arrays can be read in one call. */
static const char fixed_types[] = "ynqiuxtd";

static int message_weight_subtract(size_t *left, size_t n)
{
	if (n > *left)
		return -E2BIG;
	*left -= n;
	return 0;
}

static int message_weight_weigh(sd_bus_message *m, size_t *left);

static int message_weigh_container(sd_bus_message *m, char type, const char *contents, size_t *left)
{
	int r = sd_bus_message_enter_container(m, type, contents);

	if (r >= 0)
		r = message_weight_weigh(m, left);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int message_weigh_array(sd_bus_message *m, const char *contents, size_t *left)
{
	const void *p;
	size_t bytes;
	int r;

	if (!contents[0] || contents[1] || !strchr(fixed_types, contents[0]))
		return message_weigh_container(m, 'a', contents, left);
	r = sd_bus_message_read_array(m, contents[0], &p, &bytes);
	return r < 0 ? r : message_weight_subtract(left, bytes);
}

static int message_weigh_basic(sd_bus_message *m, char type, size_t *left)
{
	union {
		const char *text;
		uint64_t number;
	} value = { .number = 0 };
	int r = sd_bus_message_read_basic(m, type, &value);

	if (r < 0)
		return r;
	return message_weight_subtract(left,
				       strchr("sog", type) ? strlen(value.text) : sizeof(value));
}

/*
 * Subtracts from *LEFT the size of what remains in the current container of M. Each value counts as
 * its size and an additional word.
 */
static int message_weight_weigh(sd_bus_message *m, size_t *left)
{
	const char *contents;
	char type;
	int r;

	while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
		r = message_weight_subtract(left, sizeof(uint64_t));
		if (r < 0)
			return r;
		if (type == 'a')
			r = message_weigh_array(m, contents, left);
		else if (strchr("vre", type))
			r = message_weigh_container(m, type, contents, left);
		else
			r = message_weigh_basic(m, type, left);
		if (r < 0)
			return r;
	}
	return r;
}

int message_check_weight(sd_bus_message *m, size_t limit)
{
	size_t left = limit;
	int r = message_weight_weigh(m, &left), again = sd_bus_message_rewind(m, true);

	return r < 0 ? r : again < 0 ? again : 0;
}
