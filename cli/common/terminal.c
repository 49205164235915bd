/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Sequences that switch to the alternate screen, without cursor and wrapping; and back. */
static const char show[] = "\033[?1049h\033[?25l\033[?7l";
static const char hide[] = "\033[?7h\033[?25h\033[?1049l";

static struct {
	volatile sig_atomic_t shown, has_keys;
	bool hooked;
	struct termios before;
} terminal;

bool terminal_is_there(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

int terminal_print(const char *p, size_t n)
{
	_cleanup_free_ char *clean = malloc(3 * n + 1);

	if (!clean)
		return -ENOMEM;
	for (size_t line; n > 0; p += line, n -= line) {
		const char *end = memchr(p, '\n', n);
		size_t bytes;

		line = end ? (size_t)(end - p) + 1 : n;
		bytes = text_clean(clean, 3 * n + 1, p, line - (end != NULL));
		if (end)
			clean[bytes++] = '\n';
		if (fwrite(clean, 1, bytes, stdout) < bytes)
			return -EPIPE;
	}
	return 0;
}

static int terminal_write(const char *text)
{
	return write(STDOUT_FILENO, text, strlen(text)) < 0 ? -errno : 0;
}

static void terminal_on_death(int signal)
{
	terminal_leave();
	raise(signal);
}

/* Installs, once, handlers for exit() and signals that end the process. */
static void terminal_hook(void)
{
	static const int deaths[] = { SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
				      SIGSEGV, SIGSYS, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU };
	const struct sigaction action = { .sa_handler = terminal_on_death,
					  .sa_flags = SA_RESETHAND };
	struct sigaction old;

	if (terminal.hooked)
		return;
	terminal.hooked = true;
	atexit(terminal_leave);
	for (size_t i = 0; i < ARRAY_SIZE(deaths); i++)
		if (sigaction(deaths[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(deaths[i], &action, NULL);
}

int terminal_enter(void)
{
	struct termios keys;

	terminal_hook();
	if (!terminal.shown && tcgetattr(STDIN_FILENO, &terminal.before) == 0)
		terminal.has_keys = true;
	terminal.shown = true;
	if (terminal.has_keys) {
		keys = terminal.before;
		/* Ctrl-C and Ctrl-Z keep their meaning. */
		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		keys.c_cc[VMIN] = 1;
		keys.c_cc[VTIME] = 0;
		if (tcsetattr(STDIN_FILENO, TCSANOW, &keys) < 0)
			return -errno;
	}
	return terminal_write(show);
}

void terminal_leave(void)
{
	int error = errno;

	if (!terminal.shown)
		return;
	terminal.shown = false;
	terminal_write(hide);
	/* A process in the background must not change the terminal: this would stop the process. */
	if (terminal.has_keys && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	errno = error;
}

bool terminal_is_shown(void)
{
	return terminal.shown;
}

bool terminal_has_keys(void)
{
	return terminal.shown && terminal.has_keys;
}

struct terminal_size terminal_size(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row == 0 || w.ws_col == 0)
		return (struct terminal_size){ 24, 80 };
	return (struct terminal_size){ w.ws_row, w.ws_col };
}
