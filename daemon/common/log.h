/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log. An error is logged in one line, at the place where it is handled. Lines go to
 * the journal, with additional fields, if standard error is connected to it, and otherwise to
 * standard error as text.
 */
#pragma once

#include <sys/types.h>

/* Logs an event. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Logs a problem after which the daemon continues. ERROR is a negative errno whose text is appended
 * to the message, or 0. Returns ERROR.
 */
int log_warning(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Logs an error after which the daemon cannot work, like log_warning(). */
int log_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Kinds of lines with a MESSAGE_ID in the journal; kymod(8) lists them. */
enum log_message_id {
	LOG_SESSION_OTHER, /* no MESSAGE_ID */
	LOG_SESSION_STARTED,
	LOG_SESSION_ENDED,
	LOG_SESSION_LOST, /* the first loss of a session */
	LOG_MESSAGE_ID_MAX,
};

/* The session of a line: KYMO_SESSION= and KYMO_OWNER= in the journal. */
struct log_subject {
	const char *session; /* name of the session for clients */
	const char *path;    /* object path of the session; the text begins with it */
	uid_t owner;
	enum log_message_id message_id;
};

/*
 * Log a line like log_info() and log_warning(), for a session. The text begins with the object path
 * of the session.
 */
void log_session(const struct log_subject *about, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int log_session_warning(const struct log_subject *about, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
