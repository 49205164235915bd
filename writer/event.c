/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/event.h"

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
};
