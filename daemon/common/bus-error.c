/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/common/bus-error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const struct error_row {
	int error;
	const char *name;
	const char *sentence;
} rows[] = {
	{ -EACCES, "AccessDenied", "you are not allowed to use kymo on this machine" },
	{ -EINVAL, "InvalidOption", "an option has an invalid value" },
	{ -EBADF, "InvalidOutput", "the output descriptor cannot be written" },
	{ -EEXIST, "SessionExists", "a session of this name exists already" },
	{ -ENOENT, "NoSuchSession", "there is no session of this name" },
	{ -EDQUOT, "LimitReached", "a limit of the service is reached" },
	{ -EOPNOTSUPP, "NotSupported", "kymo does not support this" },
	{ -ENODEV, "CannotCapture",
	  "this machine cannot record this; 'kymo capabilities' "
	  "shows the reasons" },
	{ -EALREADY, "AlreadyStarted", "the session was started before" },
	{ -ESHUTDOWN, "NotRunning", "the session is not running" },
	{ -ECANCELED, "NotRunning", "the session was removed" },
	{ -ENOMEM, "NoMemory", "out of memory" },
	{ -EAGAIN, "TryAgain", "the output is too slow, and its queue is full: try again" },
	{ -EBUSY, "TryAgain", "the session is busy: try again" },
	{ -ETIMEDOUT, "TimedOut", "the last bytes could not be written to the output in time" },
	{ -EIO, "OutputFailed", "the output could not be written" },
	{ -ENOSPC, "OutputFailed", "there is no space left on the output's device" },
	{ -EPIPE, "OutputFailed", "the reader of the output has closed it" },
};

static const struct error_row *bus_error_row_of(int error)
{
	static const struct error_row other = { 0, "Failed", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].error == error)
			return &rows[i];
	return &other;
}

static void bus_error_set_row(sd_bus_error *reterr, int error, const char *format, va_list ap)
{
	const struct error_row *row = bus_error_row_of(error);
	char name[64], text[1024];

	snprintf(name, sizeof(name), BUS_ERROR_PREFIX "%s", row->name);
	if (format)
		vsnprintf(text, sizeof(text), format, ap);
	else
		snprintf(text, sizeof(text), "%s", row->sentence ?: strerror(-error));
	sd_bus_error_set(reterr, name, text);
}

int bus_error_set(sd_bus_error *reterr, int error, const char *format, ...)
{
	va_list ap;

	if (!reterr || sd_bus_error_is_set(reterr))
		return error;
	va_start(ap, format);
	bus_error_set_row(reterr, error, format, ap);
	va_end(ap);
	return error;
}

int bus_error_reply(sd_bus_message *call, int error, const char *format, ...)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	va_list ap;

	va_start(ap, format);
	bus_error_set_row(&e, error, format, ap);
	va_end(ap);
	return sd_bus_reply_method_error(call, &e);
}
