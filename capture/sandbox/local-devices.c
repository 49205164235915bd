/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/local-devices.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Types of file systems that have no block device, but are on this machine. */
static const char *const local_types[] = {
	"bcachefs", "btrfs", "erofs", "overlay", "ramfs", "squashfs", "tmpfs", "ubifs", "zfs",
};

static bool local_devices_has_type(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(local_types); i++)
		if (strcmp(type, local_types[i]) == 0)
			return true;
	return false;
}

static void local_devices_read(struct local_devices *l, const char *root)
{
	_cleanup_free_ char *line = NULL;
	char path[256], type[32];
	unsigned major, minor;
	size_t room = 0;
	FILE *f;

	l->is_read = true;
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	f = fopen(path, "re");
	while (f && l->n < ARRAY_SIZE(l->minors) && getline(&line, &room, f) > 0) {
		const char *rest = strstr(line, " - ");

		if (rest && sscanf(line, "%*u %*u %u:%u", &major, &minor) == 2 && major == 0 &&
		    sscanf(rest, " - %31s", type) == 1 && local_devices_has_type(type))
			l->minors[l->n++] = minor;
	}
	if (f)
		fclose(f);
}

bool local_devices_has(struct local_devices *l, const char *root, uint64_t device)
{
	if (device >> 20)
		return true;
	if (!l->is_read)
		local_devices_read(l, root);
	for (size_t i = 0; i < l->n; i++)
		if (l->minors[i] == device)
			return true;
	return false;
}
