/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for the password in a terminal when polkit wants one: pkttyagent, where it is installed. It
 * is a child that ends with us.
 */
#pragma once

#include <sys/types.h>

/*
 * Starts the agent and waits until it is there. Returns its pid, or 0 where none is needed or
 * possible: for root, without a terminal, without pkttyagent. Without an agent polkit asks in the
 * desktop, if there is one.
 */
pid_t polkit_agent_start(void);

/* Ends the agent PID, if it is not 0. */
void polkit_agent_end(pid_t pid);
