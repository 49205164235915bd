/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the path of a cgroup says: which unit of systemd, and which container, it belongs to.
 */
#pragma once

/* Names are cut to this, with their NUL. */
enum { CGROUP_NAME_MAX = 256 };

/*
 * The unit of PATH: its last component that is a service, scope, mount, socket or swap; of what is
 * in none, its last slice. One of a user's service manager has "user@UID/" before it, since each
 * user can have one of that name. "/" is what is in no unit: kernel threads, mostly. Returns TO.
 */
const char *cgroup_unit(char to[static CGROUP_NAME_MAX], const char *path);

/*
 * The innermost container of PATH, by the names that its makers give to cgroups: "docker:ID",
 * "podman:ID", "crio:ID", "containerd:ID" (the first 12 digits of the id), "machine:NAME" (what
 * systemd-machined knows: nspawn, virtual machines), "lxc:NAME", "pod:UID" (of Kubernetes, if it is
 * not said which container of it). "host" if it is in none. Returns TO.
 */
const char *cgroup_container(char to[static CGROUP_NAME_MAX], const char *path);
