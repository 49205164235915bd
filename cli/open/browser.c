/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/browser.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static bool browser_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Returns the uid in the variable NAME; 0 = unset or invalid. */
static uid_t browser_uid_of(const char *name)
{
	const char *text = getenv(name);
	uint64_t id = 0;

	/* For setresuid(), the highest uid means "unchanged". */
	return !text || text_parse_u64(text, UINT32_MAX - 1, &id) < 0 ? 0 : (uid_t)id;
}

/* Sets NAME to a path in the runtime directory of UID, if NAME is not set and the path exists. */
static void browser_set_runtime(const char *name, uid_t uid, const char *prefix, const char *file)
{
	char value[96];

	snprintf(value, sizeof(value), "%s/run/user/%" PRIu32 "%s", prefix, (uint32_t)uid, file);
	if (!browser_is_set(name) && access(value + strlen(prefix), R_OK) == 0)
		setenv(name, value, 1);
}

static void browser_set_environment(const struct passwd *pw)
{
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	/* If root has a session, these variables belong to it. */
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	browser_set_runtime("XDG_RUNTIME_DIR", pw->pw_uid, "", "");
	browser_set_runtime("DBUS_SESSION_BUS_ADDRESS", pw->pw_uid, "unix:path=", "/bus");
}

int browser_become_caller(void)
{
	uid_t uid = geteuid() == 0 ? browser_uid_of("SUDO_UID") : 0;
	const struct passwd *pw;

	if (uid == 0)
		return 0;
	errno = 0;
	pw = getpwuid(uid);
	if (!pw)
		return errno ? -errno : -ENOENT;
	if (initgroups(pw->pw_name, pw->pw_gid) < 0 ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		return -errno;
	browser_set_environment(pw);
	return 0;
}

bool browser_is_there(const char *command)
{
	return command || browser_is_set("BROWSER") || browser_is_set("DISPLAY") ||
	       browser_is_set("WAYLAND_DISPLAY");
}

/*
 * Returns the first command of $BROWSER, if it consists of plain words; otherwise xdg-open, which
 * handles other forms.
 */
static char *browser_default_command(void)
{
	const char *text = getenv("BROWSER");

	if (!text || !*text || strchr(text, '%'))
		return strdup("xdg-open");
	return strndup(text, strcspn(text, ":"));
}

int browser_start(struct run_command *c, const char *command, const char *url, const sigset_t *mask)
{
	_cleanup_free_ char *words = command ? strdup(command) : browser_default_command();
	_cleanup_free_ char *script = NULL;
	const char *argv[] = { "setsid", "sh", "-c", NULL, "sh", url, NULL };

	/* Messages of browsers must not go to standard output. */
	if (!words || asprintf(&script, "exec >&2 </dev/null; exec %s \"$1\"", words) < 0)
		return -ENOMEM;
	argv[3] = script;
	return run_command_start(c, (char **)argv, mask);
}
