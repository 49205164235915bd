/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard (access.h).
 *
 * Messages that came before the answer are put back into the connection's read queue when it is
 * there. Others of the same sender may have queued up behind the answer meanwhile; they go to the
 * back, so that everyone's messages are served in the order in which they were sent.
 *
 * One match for all names, not one for each peer: the bus allows a connection only so many, and
 * strangers must not be able to use them up.
 */
#include "daemon/access.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "daemon/bus-error.h"
#include "daemon/log.h"

enum {
	PEER_HELD_MAX = 16, /* messages of one sender that wait for the answer */
	PEER_GROUPS_MAX = 4096,
	PEERS_MAX = 8192, /* far more than a bus lets in */
};

enum verdict { VERDICT_PENDING, VERDICT_ALLOWED, VERDICT_DENIED };

/* Somebody on the bus. */
struct peer {
	struct access *access;
	struct peer *next;
	char *name;
	enum verdict verdict;
	uid_t uid;
	sd_bus_error denial;   /* if denied */
	sd_bus_slot *question; /* GetConnectionCredentials */
	sd_bus_message *held[PEER_HELD_MAX];
	size_t n_held;
};

struct access {
	sd_bus *bus;
	char *group;
	sd_bus_slot *filter;
	sd_bus_slot *watch; /* NameOwnerChanged */
	struct peer *peers;
	size_t n_peers;
	access_gone_fn gone;
	void *userdata;
};

static struct peer *peer_free(struct peer *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n_held; i++)
		sd_bus_message_unref(p->held[i]);
	sd_bus_slot_unref(p->question);
	sd_bus_error_free(&p->denial);
	free(p->name);
	free(p);
	return NULL;
}

DEFINE_CLEANUP(struct peer *, peer_free)

static struct peer *find(const struct access *a, const char *name)
{
	for (struct peer *p = a->peers; p; p = p->next) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

static void forget(struct peer *peer)
{
	for (struct peer **at = &peer->access->peers; *at; at = &(*at)->next) {
		if (*at == peer) {
			*at = peer->next;
			peer->access->n_peers--;
			break;
		}
	}
	peer_free(peer);
}

static int hold(struct peer *p, sd_bus_message *m)
{
	if (p->n_held == PEER_HELD_MAX)
		return -EDQUOT;
	p->held[p->n_held++] = sd_bus_message_ref(m);
	return 0;
}

/* The gid of GROUP, a name or a number. Returns 0 or -ENOENT. */
static int group_find(const char *group, gid_t *ret)
{
	struct group room, *found = NULL;
	char buf[16384]; /* members' names too; a group that does not fit is not found */
	uint64_t number;

	if (text_parse_u64(group, UINT32_MAX - 1, &number) == 0) {
		*ret = (gid_t)number;
		return 0;
	}
	if (getgrnam_r(group, &room, buf, sizeof(buf), &found) == ERANGE) {
		found = getgrnam(group); /* grows as it needs; only this thread asks */
	}
	if (!found)
		return -ENOENT;
	*ret = found->gr_gid;
	return 0;
}

/* What the user database says, for a bus that does not tell the groups of its connections. */
static int groups_of(const struct passwd *user, gid_t **ret, size_t *ret_n)
{
	_cleanup_free_ gid_t *groups = NULL;
	int n = 64;

	for (int tries = 0; tries < 2; tries++) {
		gid_t *more = realloc(groups, (size_t)n * sizeof(*groups));

		if (!more)
			return -ENOMEM;
		groups = more;
		if (getgrouplist(user->pw_name, user->pw_gid, groups, &n) >= 0) {
			*ret = TAKE_PTR(groups);
			*ret_n = (size_t)n;
			return 0;
		}
	}
	return -E2BIG;
}

static bool contains(const gid_t *groups, size_t n, gid_t wanted)
{
	for (size_t i = 0; i < n; i++) {
		if (groups[i] == wanted)
			return true;
	}
	return false;
}

int access_decide(const char *group, uid_t uid, const gid_t *groups, size_t n_groups,
		  sd_bus_error *reterr)
{
	_cleanup_free_ gid_t *looked_up = NULL;
	const struct passwd *user;
	char who[64];
	gid_t gid;

	if (uid == 0)
		return 0;
	user = getpwuid(uid);
	if (user)
		snprintf(who, sizeof(who), "%s", user->pw_name);
	else
		snprintf(who, sizeof(who), "%u", uid);
	if (group_find(group, &gid) < 0)
		return bus_error_set(reterr, -EACCES,
				     "user %s is not root, and there is no group %s whose members "
				     "may use kymo: make it with `addgroup --system %s`, then "
				     "`adduser %s %s`",
				     who, group, group, who, group);
	if (!groups && user && groups_of(user, &looked_up, &n_groups) == 0)
		groups = looked_up;
	if (groups && contains(groups, n_groups, gid))
		return 0;
	return bus_error_set(
		reterr, -EACCES,
		"user %s is neither root nor in group %s: add them with `adduser %s %s`"
		" and log in again",
		who, group, who, group);
}

/* What the bus says of a connection. */
struct credentials {
	bool has_uid;
	uid_t uid;
	gid_t *groups; /* owned; NULL = the bus does not say */
	size_t n_groups;
};

static int read_groups(sd_bus_message *reply, struct credentials *c)
{
	const void *p;
	size_t bytes;
	int r;

	r = sd_bus_message_enter_container(reply, 'v', "au");
	if (r < 0)
		return r;
	r = sd_bus_message_read_array(reply, 'u', &p, &bytes);
	if (r < 0)
		return r;
	if (bytes / sizeof(gid_t) > PEER_GROUPS_MAX)
		return -E2BIG;
	free(c->groups);
	c->groups = malloc(bytes ?: 1);
	if (!c->groups)
		return -ENOMEM;
	if (bytes)
		memcpy(c->groups, p, bytes);
	c->n_groups = bytes / sizeof(gid_t);
	return sd_bus_message_exit_container(reply);
}

static int read_credentials(sd_bus_message *reply, struct credentials *c)
{
	const char *key;
	int r;

	r = sd_bus_message_enter_container(reply, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
		r = sd_bus_message_read(reply, "s", &key);
		if (r < 0)
			return r;
		if (strcmp(key, "UnixUserID") == 0) {
			r = sd_bus_message_read(reply, "v", "u", &c->uid);
			c->has_uid = r >= 0;
		} else if (strcmp(key, "UnixGroupIDs") == 0) {
			r = read_groups(reply, c);
		} else {
			r = sd_bus_message_skip(reply, "v");
		}
		if (r < 0)
			return r;
		r = sd_bus_message_exit_container(reply);
		if (r < 0)
			return r;
	}
	return r;
}

/* Puts what was held back into the read queue; the filter sees it again, in this order. */
static void release(struct peer *p)
{
	for (size_t i = 0; i < p->n_held; i++) {
		int r = sd_bus_enqueue_for_read(p->access->bus, p->held[i]);

		if (r < 0) {
			log_warning(r, "a message of %s could not be put back and was refused",
				    p->name);
			bus_error_reply(p->held[i], r, NULL);
			sd_bus_message_unref(p->held[i]);
			memmove(&p->held[i], &p->held[i + 1],
				(p->n_held - i - 1) * sizeof(p->held[0]));
			p->n_held--;
			i--;
		}
	}
}

/* The bus does not know the peer. If it has left, nobody hears the answers and the next message
 * of that name never comes; else the next one asks again. */
static void give_up(struct peer *p, const sd_bus_error *e)
{
	if (!sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
		for (size_t i = 0; i < p->n_held; i++)
			bus_error_reply(p->held[i], -EACCES, "the bus does not say who you are: %s",
					e->message ?: e->name);
	}
	forget(p);
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *reterr)
{
	struct credentials c = { 0 };
	struct peer *p = userdata;
	int r;

	(void)reterr;
	if (sd_bus_message_is_method_error(reply, NULL)) {
		give_up(p, sd_bus_message_get_error(reply));
		return 0;
	}
	r = read_credentials(reply, &c);
	if (r >= 0 && c.has_uid) {
		p->uid = c.uid;
		r = access_decide(p->access->group, c.uid, c.groups, c.n_groups, &p->denial);
	} else {
		r = bus_error_set(&p->denial, -EACCES, "the bus does not say who you are");
	}
	p->verdict = r == 0 ? VERDICT_ALLOWED : VERDICT_DENIED;
	free(c.groups);
	release(p);
	return 0;
}

static int on_gone(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *name, *old_owner, *new_owner;
	struct access *a = userdata;
	struct peer *p;
	int r;

	(void)reterr;
	r = sd_bus_message_read(m, "sss", &name, &old_owner, &new_owner);
	if (r < 0 || *new_owner != '\0')
		return 0;
	p = find(a, name);
	if (!p)
		return 0;
	forget(p);
	if (a->gone)
		a->gone(name, a->userdata);
	return 0;
}

/* Asks the bus who NAME is. */
static int meet(struct access *a, const char *name, struct peer **ret)
{
	_cleanup_(peer_freep) struct peer *p = calloc(1, sizeof(*p));
	int r;

	if (a->n_peers >= PEERS_MAX)
		return -EDQUOT;
	if (!p)
		return -ENOMEM;
	p->access = a;
	p->name = strdup(name);
	if (!p->name)
		return -ENOMEM;
	r = sd_bus_call_method_async(a->bus, &p->question, "org.freedesktop.DBus",
				     "/org/freedesktop/DBus", "org.freedesktop.DBus",
				     "GetConnectionCredentials", on_credentials, p, "s", name);
	if (r < 0)
		return r;
	p->next = a->peers;
	a->peers = p;
	a->n_peers++;
	*ret = TAKE_PTR(p);
	return 0;
}

/* The messages of a peer pass in the order of `held`; true if it is M's turn. */
static bool may_pass(struct peer *p, sd_bus_message *m)
{
	if (p->n_held == 0)
		return true;
	if (p->held[0] != m)
		return false;
	sd_bus_message_unref(m);
	memmove(&p->held[0], &p->held[1], --p->n_held * sizeof(p->held[0]));
	return true;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *sender = sd_bus_message_get_sender(m);
	struct access *a = userdata;
	struct peer *p;
	int r;

	if (!sd_bus_message_is_method_call(m, NULL, NULL) ||
	    sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Peer", NULL))
		return 0;
	if (!sender)
		return bus_error_set(reterr, -EACCES, "a message without a sender");
	p = find(a, sender);
	if (!p) {
		r = meet(a, sender, &p);
		if (r < 0)
			return bus_error_set(reterr, r, NULL);
	}
	if (p->verdict == VERDICT_PENDING || !may_pass(p, m)) {
		r = hold(p, m);
		if (r < 0)
			return bus_error_set(reterr, r, "too many calls before the first answer");
		if (p->verdict != VERDICT_PENDING)
			r = sd_bus_enqueue_for_read(a->bus, m);
		return r < 0 ? r : 1;
	}
	if (p->verdict == VERDICT_DENIED) {
		sd_bus_error_copy(reterr, &p->denial);
		return -EACCES;
	}
	return 0;
}

int access_new(sd_bus *bus, const char *group, struct access **ret)
{
	_cleanup_(access_freep) struct access *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->bus = sd_bus_ref(bus);
	a->group = strdup(group);
	if (!a->group)
		return -ENOMEM;
	/* Waits for the bus's answer; a refusal later would cost the connection. It comes before
	 * every question, so whoever leaves after the answer is seen leaving. */
	r = sd_bus_match_signal(bus, &a->watch, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				"org.freedesktop.DBus", "NameOwnerChanged", on_gone, a);
	if (r < 0)
		return r;
	r = sd_bus_add_filter(bus, &a->filter, on_message, a);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

void access_set_gone(struct access *a, access_gone_fn gone, void *userdata)
{
	a->gone = gone;
	a->userdata = userdata;
}

struct access *access_free(struct access *a)
{
	if (!a)
		return NULL;
	while (a->peers)
		forget(a->peers);
	sd_bus_slot_unref(a->filter);
	sd_bus_slot_unref(a->watch);
	sd_bus_unref(a->bus);
	free(a->group);
	free(a);
	return NULL;
}

uid_t access_sender_uid(const struct access *a, sd_bus_message *m)
{
	const char *sender = m ? sd_bus_message_get_sender(m) : NULL;
	const struct peer *p = sender ? find(a, sender) : NULL;

	if (!m)
		return 0;
	return p ? p->uid : (uid_t)-1; /* -1 owns nothing */
}
