/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon says: one line for one thing, where the error stops travelling. To standard
 * error, with the journal's priority prefix when the journal listens there.
 */
#pragma once

/* Says that something happened. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that something went wrong and the daemon goes on. ERROR is a negative errno whose text is
 * put after the message, or 0. Returns ERROR. */
int log_warning(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that the daemon cannot do its work. As above. */
int log_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
