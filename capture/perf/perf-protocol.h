/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What who asks for a perf event (perf-event.c) and who is asked (perf-answer.c) share: their
 * messages, and the call that either makes.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define UPROBES "/sys/bus/event_source/devices/uprobe/"

/*
 * What is asked; the file of a probe comes with it, as a descriptor. An answer is an errno or 0
 * (int32_t), and the event likewise.
 */
struct perf_question {
	struct perf_event_attr attr;
	int32_t pid, cpu;
};

/* Waits for the other one for some seconds at most, from here on: then it is -ETIMEDOUT. */
int perf_protocol_be_impatient(int sock);

/* With descriptor FD, which is the caller's; -1 if there is none. Returns 0 or a negative errno. */
int perf_protocol_send(int sock, void *data, size_t size, int fd);

/*
 * *RET_FD is the caller's, whatever is returned, or -1. -EBADMSG is another size, or more than one
 * descriptor.
 */
int perf_protocol_receive(int sock, void *data, size_t size, int *ret_fd);

/*
 * Opens it here. The path of a probe is FILE's, if there is one. Returns a descriptor or a negative
 * errno.
 */
int perf_protocol_open(struct perf_question *q, int file);

/* A number, at the end of what is in the file PATH. Returns -1 without it. */
int perf_protocol_number(const char *path);
