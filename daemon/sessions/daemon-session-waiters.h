/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that wait for a state of a session, and their replies.
 */
#pragma once

#include "daemon/sessions/daemon-session-state.h"

/* Sends the reply to CALL when S has reached WHAT. Returns 0, or -EDQUOT if too many calls wait. */
int daemon_session_wait(struct daemon_session *s, enum wait_for what, sd_bus_message *call);

/*
 * Takes a snapshot, and sends the reply to CALL when it is in the output's queue. Returns the
 * result of daemon_session_wait() or session_snapshot().
 */
int daemon_session_snapshot(struct daemon_session *s, sd_bus_message *call);

/*
 * Searches process PID, and sends the reply to CALL afterwards. Returns the result of
 * daemon_session_wait() or session_search().
 */
int daemon_session_search(struct daemon_session *s, uint32_t pid, sd_bus_message *call);

/*
 * Writes a flight recorder's snapshot to FD, which UID has passed, and sends the reply to CALL
 * afterwards. Takes ownership of FD, also on failure. Returns the result of daemon_session_wait(),
 * store_fd_new() or session_take_snapshot().
 */
int daemon_session_take_snapshot(struct daemon_session *s, int fd, uid_t uid, sd_bus_message *call);

/*
 * Starts another chunk, and sends the reply to CALL when the previous one is complete. Returns the
 * result of daemon_session_wait() or session_rotate().
 */
int daemon_session_rotate(struct daemon_session *s, sd_bus_message *call);

/* True while a requested snapshot is being written. */
bool daemon_session_is_writing(const struct daemon_session *s);

/* Drops the waiting calls of SENDER, which has left the bus. */
void daemon_session_drop_waiters(struct daemon_session *s, const char *sender);

/* Sends the replies to calls whose condition is met. */
void daemon_session_answer_waiters(struct daemon_session *s);
