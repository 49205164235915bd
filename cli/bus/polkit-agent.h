/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts pkttyagent, if it is installed. pkttyagent asks for passwords in the terminal, for polkit.
 * It is a child of this process, and ends with this process.
 */
#pragma once

#include <sys/types.h>

/*
 * Starts the agent and waits until it is ready. Returns its pid, or 0 if an agent is not needed or
 * not possible: for root, without a terminal, or without pkttyagent. Without this agent, polkit
 * uses the desktop's agent, if there is one.
 */
pid_t polkit_agent_start(void);

/* Ends the agent PID, if it is not 0. */
void polkit_agent_end(pid_t pid);
