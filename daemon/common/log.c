/* SPDX-License-Identifier: GPL-2.0-or-later */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "daemon/common/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { TEXT_MAX = 1200 };

static const char *const message_ids[LOG_MESSAGE_ID_MAX] = {
	[LOG_SESSION_STARTED] = "ce555bdc427047b49c55d2639edab1be",
	[LOG_SESSION_ENDED] = "8e72101951e649c994a1c51299017b85",
	[LOG_SESSION_LOST] = "c1c7e1d8c8184e609b3eee51ebafe60c",
};

/*
 * Returns true if standard error is connected to the journal. systemd sets JOURNAL_STREAM to the
 * identity of the journal's file. Standard error is compared with that identity, since it can have
 * been redirected.
 */
static bool log_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uint64_t dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%" SCNu64 ":%" SCNu64, &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static void log_send_to_journal(const struct log_subject *about, int priority, const char *text)
{
	char message[TEXT_MAX + 16], level[32], session[128], owner[32], id[64];
	struct iovec fields[6];
	int n = 0;

	/* clang-format off */
#define FIELD(buf, ...) \
	fields[n++] = (struct iovec){ buf, (size_t)snprintf(buf, sizeof(buf), __VA_ARGS__) }
	/* clang-format on */
	FIELD(message, "MESSAGE=%s", text);
	FIELD(level, "PRIORITY=%d", priority);
	fields[n++] = (struct iovec){ (char *)"SYSLOG_IDENTIFIER=kymod", 23 };
	if (about) {
		FIELD(session, "KYMO_SESSION=%.80s", about->session);
		FIELD(owner, "KYMO_OWNER=%u", about->owner);
		if (message_ids[about->message_id])
			FIELD(id, "MESSAGE_ID=%s", message_ids[about->message_id]);
	}
#undef FIELD
	sd_journal_sendv(fields, n);
}

static void log_line(const struct log_subject *about, int priority, int error, const char *format,
		     va_list ap)
{
	char text[1024], raw[TEXT_MAX], line[TEXT_MAX];

	vsnprintf(text, sizeof(text), format, ap);
	snprintf(raw, sizeof(raw), "%s%s%s%s%s%s", about ? "session " : "",
		 about ? about->path : "", about ? ": " : "", text, error ? ": " : "",
		 error ? strerror(-error) : "");
	/* Names of files and programs can contain any bytes. */
	text_clean(line, sizeof(line), raw, strlen(raw));
	if (log_is_journal())
		log_send_to_journal(about, priority, line);
	else
		fprintf(stderr, "kymod: %s\n", line);
}

void log_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(NULL, LOG_INFO, 0, format, ap);
	va_end(ap);
}

int log_warning(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(NULL, LOG_WARNING, error, format, ap);
	va_end(ap);
	return error;
}

int log_error(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(NULL, LOG_ERR, error, format, ap);
	va_end(ap);
	return error;
}

void log_session(const struct log_subject *about, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(about, LOG_INFO, 0, format, ap);
	va_end(ap);
}

int log_session_warning(const struct log_subject *about, int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(about, LOG_WARNING, error, format, ap);
	va_end(ap);
	return error;
}
