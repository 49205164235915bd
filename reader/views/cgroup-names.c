/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/cgroup-names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* A component of a path. */
struct part {
	const char *at;
	size_t size;
};

/* Moves *PATH past its next component, and stores the component in *RET. Returns false if there is
 * none. */
static bool cgroup_next_part(const char **path, struct part *ret)
{
	*path += strspn(*path, "/");
	*ret = (struct part){ .at = *path, .size = strcspn(*path, "/") };
	*path += ret->size;
	return ret->size > 0;
}

static bool cgroup_names_begins(const struct part *p, const char *with)
{
	size_t n = strlen(with);

	return p->size > n && memcmp(p->at, with, n) == 0;
}

static bool cgroup_names_ends(const struct part *p, const char *with)
{
	size_t n = strlen(with);

	return p->size > n && memcmp(p->at + p->size - n, with, n) == 0;
}

static bool cgroup_names_equal(const struct part *p, const char *what)
{
	return p->size == strlen(what) && memcmp(p->at, what, p->size) == 0;
}

static bool cgroup_is_unit(const struct part *p)
{
	static const char *const kinds[] = { ".service", ".scope", ".mount", ".socket", ".swap" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (cgroup_names_ends(p, kinds[i]))
			return true;
	return false;
}

/* Finds the text between BEFORE and BEHIND in the component P. Returns false if P does not begin
 * with BEFORE and end with BEHIND, or if nothing is between. */
static bool cgroup_names_between(const struct part *p, const char *before, const char *behind,
				 struct part *ret)
{
	size_t n = strlen(before), m = strlen(behind);

	if (!cgroup_names_begins(p, before) || p->size <= n + m ||
	    memcmp(p->at + p->size - m, behind, m) != 0)
		return false;
	*ret = (struct part){ .at = p->at + n, .size = p->size - n - m };
	return true;
}

const char *cgroup_unit(char to[static CGROUP_NAME_MAX], const char *path)
{
	struct part p, unit = { 0 }, slice = { 0 }, user = { 0 }, uid;

	while (cgroup_next_part(&path, &p)) {
		if (cgroup_names_ends(&p, ".slice"))
			slice = p;
		if (!cgroup_is_unit(&p))
			continue;
		if (unit.size && cgroup_names_between(&unit, "user@", ".service", &uid))
			user = uid;
		unit = p;
	}
	if (!unit.size)
		unit = slice.size ? slice : (struct part){ .at = "/", .size = 1 };
	if (user.size)
		snprintf(to, CGROUP_NAME_MAX, "user@%.*s/%.*s", (int)user.size, user.at,
			 (int)unit.size, unit.at);
	else
		snprintf(to, CGROUP_NAME_MAX, "%.*s", (int)unit.size, unit.at);
	return to;
}

/* ---- containers ---- */

static bool cgroup_is_id(const struct part *p)
{
	size_t n = 0;

	while (n < p->size && strchr("0123456789abcdef", p->at[n]))
		n++;
	return n == p->size && n >= 12;
}

/* Decodes \xNN, which systemd writes for characters that are not allowed in a unit's name. */
static void cgroup_names_unescape(char *text)
{
	char *out = text;
	unsigned c;
	int used;

	for (const char *in = text; *in; out++) {
		if (sscanf(in, "\\x%2x%n", &c, &used) == 1 && used == 4 && c >= 0x20 && c < 0x7f) {
			*out = (char)c;
			in += used;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
}

/*
 * Names a container by a component that consists of a prefix, an id in hexadecimal digits, and a
 * suffix.
 */
static bool cgroup_by_id(char *to, const struct part *p)
{
	static const struct {
		const char *before, *behind, *maker;
	} rows[] = {
		{ "docker-", ".scope", "docker" },
		{ "libpod-", ".scope", "podman" },
		{ "libpod-payload-", "", "podman" },
		{ "crio-", ".scope", "crio" },
		{ "cri-containerd-", ".scope", "containerd" },
		{ "nerdctl-", ".scope", "containerd" },
	};
	struct part id;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (cgroup_names_between(p, rows[i].before, rows[i].behind, &id) &&
		    cgroup_is_id(&id)) {
			snprintf(to, CGROUP_NAME_MAX, "%s:%.12s", rows[i].maker, id.at);
			return true;
		}
	return false;
}

/* Names a container by a component that contains the container's name. */
static bool cgroup_by_name(char *to, const struct part *p)
{
	static const struct {
		const char *before, *behind, *maker;
	} rows[] = {
		{ "machine-", ".scope", "machine" },
		{ "systemd-nspawn@", ".service", "machine" },
		{ "lxc.payload.", "", "lxc" },
	};
	struct part name;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (cgroup_names_between(p, rows[i].before, rows[i].behind, &name)) {
			snprintf(to, CGROUP_NAME_MAX, "%s:%.*s", rows[i].maker, (int)name.size,
				 name.at);
			cgroup_names_unescape(to);
			return true;
		}
	return false;
}

/* Finds a pod: kubepods-burstable-podUID.slice, or kubepods/burstable/podUID. */
static bool cgroup_find_pod(const struct part *p, bool in_pods, struct part *ret)
{
	for (size_t i = 0; cgroup_names_begins(p, "kubepods-") && cgroup_names_ends(p, ".slice") &&
			   i + 4 < p->size;
	     i++)
		if (memcmp(p->at + i, "-pod", 4) == 0) {
			*ret = (struct part){ p->at + i + 4, p->size - i - 4 - strlen(".slice") };
			return ret->size > 0;
		}
	return in_pods && cgroup_names_between(p, "pod", "", ret);
}

const char *cgroup_container(char to[static CGROUP_NAME_MAX], const char *path)
{
	struct part p, before = { 0 }, pod;
	bool in_pods = false;

	snprintf(to, CGROUP_NAME_MAX, "host");
	for (; cgroup_next_part(&path, &p); before = p) {
		if (cgroup_by_id(to, &p) || cgroup_by_name(to, &p))
			continue;
		if (cgroup_find_pod(&p, in_pods, &pod))
			snprintf(to, CGROUP_NAME_MAX, "pod:%.*s", (int)pod.size, pod.at);
		else if (cgroup_is_id(&p) && cgroup_names_equal(&before, "docker"))
			snprintf(to, CGROUP_NAME_MAX, "docker:%.12s", p.at);
		else if (cgroup_is_id(&p) && in_pods)
			snprintf(to, CGROUP_NAME_MAX, "containerd:%.12s", p.at);
		else if (cgroup_names_equal(&before, "lxc"))
			snprintf(to, CGROUP_NAME_MAX, "lxc:%.*s", (int)p.size, p.at);
		in_pods |= cgroup_names_equal(&p, "kubepods");
	}
	return to;
}
