/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/flight-directories.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/store/flight.h"
#include "base/directory.h"
#include "capture/options/options.h"
#include "daemon/files/async-close.h"

enum { DIRECTORY_NAME_MAX = 96 }; /* room for a number, '-', a name of 64 bytes, and NUL */

static int flight_directories_open_at(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Opens a directory, and creates it if it is missing. Fails if other users own the directory or can
 * write to it, since its content is trusted.
 */
static int flight_directories_open_own(int dir_fd, const char *path)
{
	int fd = flight_directories_open_at(dir_fd, path);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022)) {
		close_fd(fd);
		return -EPERM;
	}
	return fd;
}

int flight_directories_open(void)
{
	return directory_open_runtime("flight");
}

static void flight_directories_name_of(char ret[static DIRECTORY_NAME_MAX], uid_t uid,
				       const char *name)
{
	snprintf(ret, DIRECTORY_NAME_MAX, "%u-%s", uid, name);
}

static int flight_directories_lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		async_close_note_lock(fd);
		return 0;
	}
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

int flight_directories_make(int dir_fd, uid_t uid, const char *name)
{
	_cleanup_close_ int fd = -1;
	char directory[DIRECTORY_NAME_MAX];
	int r;

	flight_directories_name_of(directory, uid, name);
	if (mkdirat(dir_fd, directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = flight_directories_open_own(dir_fd, directory);
	if (fd < 0)
		return fd;
	r = flight_directories_lock(fd);
	if (r < 0)
		return r;
	flight_clear(fd);
	return TAKE_FD(fd);
}

void flight_directories_remove(int dir_fd, uid_t uid, const char *name, int fd)
{
	char directory[DIRECTORY_NAME_MAX];

	flight_clear(fd);
	flight_directories_name_of(directory, uid, name);
	/* If the directory contains other files, this fails, and the directory stays. */
	unlinkat(dir_fd, directory, AT_REMOVEDIR);
}

/* Splits DIRECTORY into the uid and the name of the session. *RET_NAME points into DIRECTORY. */
static bool flight_directories_parse(const char *directory, uid_t *ret_uid, const char **ret_name)
{
	const char *dash = strchr(directory, '-');
	char number[16];
	uint64_t uid;

	if (!dash || dash == directory || (size_t)(dash - directory) >= sizeof(number))
		return false;
	memcpy(number, directory, (size_t)(dash - directory));
	number[dash - directory] = '\0';
	if (text_parse_u64(number, UINT32_MAX - 1, &uid) < 0 || !session_name_valid(dash + 1))
		return false;
	*ret_uid = (uid_t)uid;
	*ret_name = dash + 1;
	return true;
}

void flight_directories_find(int dir_fd, flight_directories_found_fn found, void *userdata)
{
	const struct dirent *entry;
	DIR *dir = directory_list(dir_fd);
	const char *name;
	unsigned n = 0;
	uid_t uid;

	if (!dir)
		return;
	while (n < FLIGHTS_RECOVERED_MAX && (entry = readdir(dir))) {
		_cleanup_close_ int fd = -1;

		if (!flight_directories_parse(entry->d_name, &uid, &name))
			continue;
		fd = flight_directories_open_own(dir_fd, entry->d_name);
		if (fd < 0 || flight_directories_lock(fd) < 0)
			continue;
		n++;
		found(uid, name, TAKE_FD(fd), userdata);
	}
	closedir(dir);
}
