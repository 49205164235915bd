/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notifications to systemd of a command that it runs as a service; elsewhere there are none.
 */
#pragma once

/* That it does what it is for, and what that is. */
void bus_notify_ready(const char *status);

/* How it goes. */
void bus_notify_status(const char *status);

/* That it is about to end. */
void bus_notify_stopping(void);

/* That it takes up what was changed, and, by bus_notify_ready(), that it has. */
void bus_notify_reloading(void);
