/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/contexts.h"

#include <errno.h>
#include <string.h>

#include "capture/options/options.h"

int contexts_begin(struct contexts *c, const char *name, uint32_t *ret_bit)
{
	size_t i = 0;

	if (!session_name_valid(name))
		return -EINVAL;
	while (i < c->n && strcmp(c->names[i], name) != 0)
		i++;
	if (i == CONTEXTS_MAX)
		return -EDQUOT;
	if (i == c->n)
		strcpy(c->names[c->n++], name);
	if (c->open >> i & 1)
		return -EEXIST;
	c->open |= UINT32_C(1) << i;
	*ret_bit = UINT32_C(1) << i;
	return 0;
}

int contexts_end(struct contexts *c, uint32_t bit, const char **ret_name)
{
	for (size_t i = 0; i < c->n; i++) {
		if (bit != UINT32_C(1) << i || !(c->open & bit))
			continue;
		c->open &= ~bit;
		*ret_name = c->names[i];
		return 0;
	}
	return -ENOENT;
}
