/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/daemon-session-state.h"

struct log_subject daemon_session_subject(const struct daemon_session *s,
					  enum log_message_id message_id)
{
	return (struct log_subject){ session_options(s->session)->name, s->path, s->uid,
				     message_id };
}

int daemon_session_warn(const struct daemon_session *s, int error, const char *text)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);

	return log_session_warning(&about, error, "%s", text);
}

bool daemon_session_finished(const struct daemon_session *s)
{
	enum session_state state = session_state(s->session);

	return state == SESSION_STOPPED || state == SESSION_FAILED;
}

bool daemon_session_recovered(const struct daemon_session *s)
{
	return s->recovered;
}

bool daemon_session_active(const struct daemon_session *s)
{
	return session_state(s->session) != SESSION_READY && !daemon_session_finished(s);
}

bool daemon_session_is_announced(const struct daemon_session *s)
{
	return s->state_notified == session_state(s->session);
}
