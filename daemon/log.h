/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon says: one line for one thing, where the error stops travelling. To the journal,
 * with fields of its own, where standard error is connected to it; else to standard error, as text.
 */
#pragma once

#include <sys/types.h>

/* Says that something happened. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that something went wrong and the daemon goes on. ERROR is a negative errno whose text is
 * put after the message, or 0. Returns ERROR. */
int log_warning(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that the daemon cannot do its work. As above. */
int log_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What can be looked for in the journal by its MESSAGE_ID (kymod(8) names them). */
enum log_message_id {
	LOG_SESSION_OTHER, /* none of those below */
	LOG_SESSION_STARTED,
	LOG_SESSION_ENDED,
	LOG_SESSION_LOST, /* the first records of a session that were lost */
	LOG_MESSAGE_ID_MAX,
};

/* The session that a line is about: KYMO_SESSION= and KYMO_OWNER= in the journal. */
struct log_subject {
	const char *session; /* as clients call it */
	const char *path;    /* its object, which the text names */
	uid_t owner;
	enum log_message_id message_id;
};

/* As log_info() and log_warning(), of a session. The text begins with which one. */
void log_session(const struct log_subject *about, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int log_session_warning(const struct log_subject *about, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
