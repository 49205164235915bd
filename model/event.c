/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/event.h"

const char *const event_class_names[CLASS_MAX] = {
	[CLASS_SCHED] = "sched",
	[CLASS_LIFECYCLE] = "lifecycle",
	[CLASS_IRQ] = "irq",
	[CLASS_SOFTIRQ] = "softirq",
	[CLASS_WORKQUEUE] = "workqueue",
	[CLASS_IDLE] = "idle",
	[CLASS_FREQUENCY] = "frequency",
	[CLASS_STACKS] = "stacks",
	[CLASS_MAPPINGS] = "mappings",
	[CLASS_MEMORY] = "memory",
	[CLASS_CALLS] = "calls",
	[CLASS_TRACEPOINTS] = "tracepoints",
	[CLASS_BLOCK] = "block",
	[CLASS_COUNTERS] = "counters",
	[CLASS_APP] = "app",
	[CLASS_MALFORMED] = "malformed",
};

const char *const resource_names[RESOURCE_MAX] = {
	[RESOURCE_MEMORY] = "memory",
	[RESOURCE_MAPPING] = "mapping",
	[RESOURCE_FD] = "fd",
	[RESOURCE_SEGMENT] = "segment",
	[RESOURCE_ATTACHMENT] = "attachment",
	[RESOURCE_SHM] = "shm",
	[RESOURCE_THREAD] = "thread",
};

const char *const reach_names[REACH_MAX] = {
	[REACH_UNKNOWN] = "",
	[REACH_LOST] = "lost",
	[REACH_INDIRECT] = "indirect",
	[REACH_TAGGED] = "tagged",
	[REACH_EPOLL] = "epoll",
	[REACH_POSSIBLE] = "possible",
	[REACH_REACHABLE] = "reachable",
};

const char *const walk_end_names[WALK_ENDS_MAX] = {
	[WALK_WHOLE] = "whole",
	[WALK_FULL] = "full",
	[WALK_FRAME_POINTERS] = "frame_pointers",
	[WALK_NO_CODE] = "no_code",
	[WALK_NO_TABLE] = "no_table",
	[WALK_UNSUPPORTED] = "unsupported",
	[WALK_UNREADABLE] = "unreadable",
	[WALK_BUSY] = "busy",
};
