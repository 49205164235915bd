/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/collection.h"

#include <stdlib.h>
#include <string.h>

static void collection_free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void collection_deinit(struct collection *p)
{
	session_options_deinit(&p->session);
	free(p->description);
	collection_free_list(p->units);
	collection_free_list(p->cgroups);
	collection_free_list(p->programs);
	free(p->directory);
	free(p->ship_to);
	free(p->ship_run);
	*p = (struct collection){ 0 };
}

const char *collection_name_of(const char *path, char to[static 65])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), suffix = strlen(COLLECTION_SUFFIX);

	if (n <= suffix || n - suffix > 64 || strcmp(name + n - suffix, COLLECTION_SUFFIX) != 0)
		return NULL;
	memcpy(to, name, n - suffix);
	to[n - suffix] = '\0';
	return session_name_valid(to) ? to : NULL;
}

const char *collection_untrusted(const struct stat *st, uid_t uid)
{
	if (st->st_uid != uid)
		return "it does not belong to root: run `chown root:root` on it";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "users other than root can write to it: run `chmod go-w` on it";
	return NULL;
}
