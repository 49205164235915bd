/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access control (access.h).
 *
 * One match watches the names of all peers: the bus limits the number of matches of a connection,
 * and with a match for each peer, clients could exhaust this number.
 */
#include "daemon/access/access-parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "daemon/files/async-close.h"
#include "daemon/common/bus-error.h"
#include "daemon/access/credentials.h"
#include "daemon/common/log.h"
#include "daemon/files/message-weight.h"
#include "daemon/files/passed-fds.h"

enum {
	PEERS_MAX = 8192, /* maximum number of peers, much more than a bus accepts */
	/* All waiting messages together use at most a quarter of our descriptors. */
	DESCRIPTORS_PER_HELD = 4 * PASSED_FDS_NUMBERS(16),
};

/* ---- peers ---- */

void access_forget_answer(struct answer *a)
{
	free(a->why);
	*a = (struct answer){ 0 };
}

struct peer *access_peer_free(struct peer *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n_held; i++)
		sd_bus_message_unref(p->held[i]);
	for (size_t i = 0; i < RIGHT_MAX; i++)
		access_forget_answer(&p->answers[i]);
	polkit_check_free(p->check);
	sd_bus_slot_unref(p->question);
	free(p->name);
	return free_ptr(p);
}

static struct peer *access_find(const struct access *a, const char *name)
{
	for (struct peer *p = a->peers; p; p = p->next)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

void access_forget(struct peer *peer)
{
	for (struct peer **at = &peer->access->peers; *at; at = &(*at)->next) {
		if (*at == peer) {
			*at = peer->next;
			peer->access->n_peers--;
			break;
		}
	}
	access_peer_free(peer);
}

/* ---- identity of peers ---- */

/*
 * Called when the bus cannot identify the peer P: rejects its waiting messages. If P has left,
 * nobody can receive the errors. P is forgotten, so its next message starts another query.
 */
static void access_reject_unknown(struct peer *p, const sd_bus_error *e)
{
	if (!sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
		for (size_t i = 0; i < p->n_held; i++)
			bus_error_reply(p->held[i], -EACCES,
					"the bus cannot identify the "
					"caller: %s",
					e->message ?: e->name);
	}
	access_forget(p);
}

static int access_on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *reterr)
{
	_cleanup_(credentials_deinit) struct credentials c = { 0 };
	sd_bus_error nobody =
		SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_FAILED, "the credentials contain no user");
	struct peer *p = userdata;

	if (sd_bus_message_is_method_error(reply, NULL)) {
		access_reject_unknown(p, sd_bus_message_get_error(reply));
		return 0;
	}
	if (credentials_read(reply, &c) < 0 || !c.has_uid) {
		access_reject_unknown(p, &nobody);
		return 0;
	}
	p->uid = c.uid;
	p->membership = credentials_in_group(&c, p->access->group);
	p->known = true;
	/*
	 * From now on, the peer's descriptors belong to its user. None of them has been closed yet.
	 */
	async_close_learn(p->name, p->uid);
	access_refuse_surplus(p);
	access_advance(p);
	return 0;
}

/* Adds the peer NAME, and requests its credentials from the bus. */
static int access_add_peer(struct access *a, const char *name, struct peer **ret)
{
	_cleanup_(access_peer_freep) struct peer *p = calloc(1, sizeof(*p));
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
				     "GetConnectionCredentials", access_on_credentials, p, "s",
				     name);
	if (r < 0)
		return r;
	p->next = a->peers;
	a->peers = p;
	a->n_peers++;
	*ret = TAKE_PTR(p);
	return 0;
}

/* ---- rights of peers ---- */

static bool access_is_yes(const struct peer *p, enum right right, enum polkit_answer answer)
{
	if (answer == POLKIT_ABSENT)
		return p->membership == 0 && RIGHTS_OF_GROUP & RIGHT_BIT(right);
	return answer == POLKIT_YES;
}

static bool access_is_kept(enum polkit_answer answer)
{
	return answer != POLKIT_FAILED && answer != POLKIT_DISMISSED;
}

static void access_on_answer(enum polkit_answer answer, const char *why, void *userdata)
{
	struct peer *p = userdata;
	struct answer *a = &p->answers[p->asked];

	if (answer == POLKIT_FAILED)
		log_warning(0, "polkit could not decide whether %s is authorized for %s: %s",
			    p->name, right_actions[p->asked], why);
	a->answer = answer;
	a->until_ns = access_is_kept(answer) && p->generation == p->access->generation
			      ? clock_boot_ns() + ACCESS_ANSWER_NS
			      : 0;
	a->why = why ? strdup(why) : NULL;
	if (p->for_held)
		p->answered |= RIGHT_BIT(p->asked);
	if (p->asked == RIGHT_VIEW)
		p->sees_all = access_is_yes(p, RIGHT_VIEW, answer);
	p->check = polkit_check_free(p->check);
	access_advance(p);
}

/* Returns the cached answer about a right, or NULL if polkit must be asked. */
static const struct answer *access_recall(const struct peer *p, enum right right, bool dialogue)
{
	const struct answer *a = &p->answers[right];

	if (p->answered & RIGHT_BIT(right))
		return a;
	if (a->answer == POLKIT_UNASKED || clock_boot_ns() >= a->until_ns)
		return NULL;
	/* If a dialogue is allowed now, polkit is asked again after POLKIT_CHALLENGE. */
	return dialogue && a->answer == POLKIT_CHALLENGE ? NULL : a;
}

static int access_start_check(struct peer *p, enum right right, bool dialogue, sd_bus_error *reterr)
{
	size_t n = 0, n_user = 0;
	int r;

	assert(!p->check);
	for (const struct peer *o = p->access->peers; o; o = o->next) {
		n += o->check != NULL;
		n_user += o->check && o->uid == p->uid;
	}
	if (n_user >= ACCESS_CHECKS_PER_USER || n >= ACCESS_CHECKS)
		return bus_error_set(reterr, -EDQUOT,
				     "too many calls are waiting for polkit: try again later");
	r = polkit_check_new(p->access->bus,
			     &(struct polkit_question){ .subject = p->name,
							.action = right_actions[right],
							.dialogue = dialogue,
							.fn = access_on_answer,
							.userdata = p },
			     &p->check);
	if (r < 0)
		return bus_error_set(reterr, r, "cannot call polkit: %s", strerror(-r));
	access_forget_answer(&p->answers[right]);
	p->asked = right;
	p->for_held = true;
	p->generation = p->access->generation;
	return 0;
}

static int access_refuse(const struct rights_found *f, sd_bus_error *reterr)
{
	char sentence[RIGHTS_SENTENCE_MAX];

	switch (rights_judge(f, sentence)) {
	case RIGHTS_PASS:
		return 0;
	case RIGHTS_CHALLENGE:
		sd_bus_error_set(reterr, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, sentence);
		return -EACCES;
	default:
		return bus_error_set(reterr, -EACCES, "%s", sentence);
	}
}

enum { JUDGED_PASS, JUDGED_LATER };

/*
 * Judges whether M, a message of the known peer P, may pass. Returns JUDGED_PASS; JUDGED_LATER,
 * with the question for polkit in *RET_RIGHT and *RET_DIALOGUE; or a negative errno with the
 * refusal in RETERR.
 */
static int access_judge(struct peer *p, sd_bus_message *m, enum right *ret_right,
			bool *ret_dialogue, sd_bus_error *reterr)
{
	struct access *a = p->access;
	struct access_demand demand = { 0 };
	struct rights_found found = { .uid = p->uid, .group = a->group };
	int r;

	p->granted = p->uid == 0 ? RIGHTS_ALL : 0;
	if (p->uid == 0)
		return JUDGED_PASS;
	r = a->ops.demand(m, p->uid, &demand, a->ops.userdata);
	if (r < 0)
		return bus_error_set(reterr, r, "invalid call: %s", strerror(-r));
	for (size_t i = 0; i < ARRAY_SIZE(need_rows[0].steps) && p->granted == 0; i++) {
		enum right right = need_rows[demand.need].steps[i].right;
		const struct answer *known;
		bool dialogue = need_rows[demand.need].steps[i].dialogue &&
				sd_bus_message_get_allow_interactive_authorization(m) > 0;

		if (right == RIGHT_MAX)
			break;
		known = access_recall(p, right, dialogue);
		if (!known) {
			*ret_right = right;
			*ret_dialogue = dialogue;
			return JUDGED_LATER;
		}
		if (access_is_yes(p, right, known->answer))
			p->granted |= RIGHT_BIT(right);
		if (i == 0) {
			found.answer = known->answer;
			found.why = known->why;
		}
	}
	found.need = demand.need;
	found.exists = demand.exists;
	found.granted = p->granted;
	found.no_group = p->membership == -ENOENT;
	return access_refuse(&found, reterr) < 0 ? -EACCES : JUDGED_PASS;
}

/*
 * Handles M, the next message of P. IS_HELD: M is the first waiting message. Returns the result of
 * a filter.
 */
static int access_serve(struct peer *p, sd_bus_message *m, bool is_held, sd_bus_error *reterr)
{
	enum right right = RIGHT_MAX;
	bool dialogue = false;
	int r = access_judge(p, m, &right, &dialogue, reterr);

	if (r == JUDGED_LATER) {
		r = is_held ? 0 : access_hold(p, m, reterr);
		is_held |= r == 0;
		r = r ?: access_start_check(p, right, dialogue, reterr);
		if (r == 0)
			return 1;
	}
	if (is_held) {
		access_pop_held(p);
		access_advance(p);
	}
	return r;
}

int access_check_weight(sd_bus_message *m, sd_bus_error *reterr)
{
	int r = message_check_weight(m, ACCESS_MESSAGE_BYTES);

	if (r == -E2BIG)
		return bus_error_set(reterr, -EDQUOT, "the call is too large");
	return r < 0 ? bus_error_set(reterr, r, "invalid call: %s", strerror(-r)) : 0;
}

static int access_on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
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
	p = access_find(a, sender);
	if (p && p->queued && p->held[0] == m) {
		p->queued = false;
		/* If a check is pending, the message is put back again when the check ends. */
		return p->check ? 1 : access_serve(p, m, true, reterr);
	}
	r = access_check_weight(m, reterr);
	if (r < 0)
		return r;
	if (!p) {
		r = access_add_peer(a, sender, &p);
		if (r < 0)
			return bus_error_set(reterr, r, NULL);
	}
	if (p->known && !p->check && p->n_held == 0)
		return access_serve(p, m, false, reterr);
	r = access_hold(p, m, reterr);
	return r < 0 ? r : 1;
}

/* ---- changes ---- */

/*
 * Checks again whether P may view all sessions. If the check cannot start now, P gets no more
 * signals about other users' sessions until P makes another call.
 */
static void access_check_again(struct peer *p)
{
	if (p->check || access_start_check(p, RIGHT_VIEW, false, NULL) < 0)
		p->sees_all = false;
	else
		p->for_held = false;
}

/*
 * Cached answers are dropped, but the answer to a question that was asked for a waiting message is
 * still used for that message. For peers that receive signals of all sessions, the check is
 * repeated at once.
 */
void access_drop_answers(struct access *a)
{
	a->generation++;
	for (struct peer *p = a->peers; p; p = p->next) {
		for (size_t i = 0; i < RIGHT_MAX; i++) {
			if (p->answered & RIGHT_BIT(i))
				p->answers[i].until_ns = 0;
			else if (!p->check || p->asked != i)
				access_forget_answer(&p->answers[i]);
		}
		if (p->sees_all)
			access_check_again(p);
	}
}

static int access_on_polkit_changed(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	/*
	 * Only broadcasts are believed: the bus guarantees that a broadcast in polkit's name comes
	 * from polkit, but any client can send a message to this service alone. Such messages could
	 * trigger endless checks, during which peers miss signals.
	 */
	if (!sd_bus_message_get_destination(m))
		access_drop_answers(userdata);
	return 0;
}

static int access_on_gone(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *name, *old_owner, *new_owner;
	struct access *a = userdata;
	struct peer *p;
	int r;

	/*
	 * Any client can send a forged signal to this service, and sd-bus does not compare
	 * well-known names.
	 */
	if (strcmp(sd_bus_message_get_sender(m) ?: "", "org.freedesktop.DBus") != 0)
		return 0;
	r = sd_bus_message_read(m, "sss", &name, &old_owner, &new_owner);
	if (r < 0)
		return 0;
	if (strcmp(name, POLKIT_NAME) == 0)
		access_drop_answers(a);
	if (*new_owner != '\0')
		return 0;
	p = access_find(a, name);
	if (!p)
		return 0;
	access_forget(p);
	a->ops.gone(name, a->ops.userdata);
	return 0;
}

/*
 * Stores in *RET the uid of NAME, to which the descriptors that NAME passes belong. Returns 0 or
 * -ENOENT.
 */
static int access_uid_of(const char *name, uid_t *ret, void *userdata)
{
	const struct peer *p = access_find(userdata, name);

	if (!p || !p->known)
		return -ENOENT;
	*ret = p->uid;
	return 0;
}

static void access_set_bounds(struct access *a)
{
	struct rlimit files = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &files);
	a->held_max = ACCESS_HELD;
	if (files.rlim_cur / DESCRIPTORS_PER_HELD < a->held_max)
		a->held_max = files.rlim_cur / DESCRIPTORS_PER_HELD ?: 1;
	a->held_per_user_max = ACCESS_HELD_PER_USER;
	if (a->held_max / 2 < a->held_per_user_max)
		a->held_per_user_max = a->held_max / 2 ?: 1;
}

int access_new(sd_bus *bus, const char *group, const struct access_ops *ops, struct access **ret)
{
	_cleanup_(access_freep) struct access *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->bus = sd_bus_ref(bus);
	a->ops = *ops;
	access_set_bounds(a);
	a->group = strdup(group);
	if (!a->group)
		return -ENOMEM;
	/*
	 * These calls wait for the answer of the bus, since a later refusal would close the
	 * connection. The match exists before the first query of credentials, so no departure of a
	 * known peer is missed.
	 */
	r = sd_bus_match_signal(bus, &a->watch, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				"org.freedesktop.DBus", "NameOwnerChanged", access_on_gone, a);
	if (r < 0)
		return r;
	r = sd_bus_match_signal(bus, &a->change, POLKIT_NAME,
				"/org/freedesktop/PolicyKit1/Authority",
				"org.freedesktop.PolicyKit1.Authority", "Changed",
				access_on_polkit_changed, a);
	if (r < 0)
		return r;
	r = sd_bus_add_filter(bus, &a->filter, access_on_message, a);
	if (r < 0)
		return r;
	async_close_set_owner_fn(access_uid_of, a);
	*ret = TAKE_PTR(a);
	return 0;
}

struct access *access_free(struct access *a)
{
	if (!a)
		return NULL;
	async_close_set_owner_fn(NULL, NULL);
	while (a->peers)
		access_forget(a->peers);
	sd_bus_slot_unref(a->filter);
	sd_bus_slot_unref(a->change);
	sd_bus_slot_unref(a->watch);
	sd_bus_unref(a->bus);
	free(a->group);
	return free_ptr(a);
}

static const struct peer *access_sender_of(const struct access *a, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);

	if (sd_bus_message_get_bus(m) != a->bus)
		return access_find_direct(a, sd_bus_message_get_bus(m));
	return sender ? access_find(a, sender) : NULL;
}

const char *access_sender_name(const struct access *a, sd_bus_message *m)
{
	const struct peer *p;

	if (sd_bus_message_get_bus(m) == a->bus)
		return sd_bus_message_get_sender(m) ?: "";
	p = access_find_direct(a, sd_bus_message_get_bus(m));
	return p ? p->name : "";
}

bool access_is_waiting(const struct access *a)
{
	for (const struct peer *p = a->peers; p; p = p->next)
		if (p->n_held > 0)
			return true;
	return false;
}

uid_t access_sender_uid(const struct access *a, sd_bus_message *m)
{
	const struct peer *p = m ? access_sender_of(a, m) : NULL;

	if (!m)
		return 0;
	return p && p->known ? p->uid : (uid_t)-1; /* no session belongs to -1 */
}

bool access_may(const struct access *a, sd_bus_message *m, enum right right)
{
	const struct peer *p = m ? access_sender_of(a, m) : NULL;

	return !m || (p && p->granted & RIGHT_BIT(right));
}

static bool access_may_receive(const struct peer *p, uid_t owner)
{
	return p->known && (p->uid == 0 || p->uid == owner || p->sees_all);
}

/* Returns true if the bus does not read its messages. Logs when this begins. */
static bool access_is_bus_unread(struct access *a)
{
	uint64_t n_unread = 0;
	bool is_unread =
		sd_bus_get_n_queued_write(a->bus, &n_unread) >= 0 && n_unread >= ACCESS_BUS_UNREAD;

	if (is_unread && !a->drops_signals)
		log_warning(0, "the bus does not read: signals to its clients are dropped");
	a->drops_signals = is_unread;
	return is_unread;
}

void access_each_receiver(struct access *a, uid_t owner, access_receiver_fn fn, void *userdata)
{
	bool is_unread = access_is_bus_unread(a);

	for (const struct peer *p = a->peers; p; p = p->next)
		if (access_may_receive(p, owner) && !(p->direct ? access_end_unread(p) : is_unread))
			fn(p->direct ?: a->bus, p->direct ? NULL : p->name, userdata);
}
