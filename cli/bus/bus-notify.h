/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notifications to systemd from a command that runs as a service. Without systemd, they do nothing.
 */
#pragma once

/* Notifies that the service is ready; STATUS describes its task. */
void bus_notify_ready(const char *status);

/* Updates the status. */
void bus_notify_status(const char *status);

/* Notifies that the service is about to end. */
void bus_notify_stopping(void);

/* Notifies that the service reloads its configuration. bus_notify_ready() ends the reload. */
void bus_notify_reloading(void);
