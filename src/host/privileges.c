/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up privileges that a slave does not need, and checks that they are gone. */
#include "host/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS _LINUX_CAPABILITY_U32S_3

struct capabilities {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[WORDS];
};

static int get(struct capabilities *ret)
{
	*ret = (struct capabilities){.header = {.version = _LINUX_CAPABILITY_VERSION_3}};
	return syscall(SYS_capget, &ret->header, ret->data) < 0 ? -errno : 0;
}

bool nm_privileges_has(int capability)
{
	struct capabilities now;

	return get(&now) == 0 &&
	       (now.data[capability / 32].effective & (1u << (capability % 32))) != 0;
}

int nm_privileges_keep(uint64_t capabilities)
{
	struct capabilities now;
	int r = get(&now);

	if (r < 0)
		return r;
	struct capabilities before = now;

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned i = 0; i < WORDS; i++) {
		uint32_t kept = (uint32_t)(capabilities >> (32 * i));

		now.data[i].effective &= kept;
		now.data[i].permitted &= kept;
		now.data[i].inheritable = 0;
	}
	/* A sandbox may forbid to ask. */
	if (memcmp(before.data, now.data, sizeof now.data) == 0)
		return 0;
	return syscall(SYS_capset, &now.header, now.data) < 0 ? -errno : 0;
}

/* Whether the process has no other user or group left, no capability, and no way back. */
static bool is_only(uid_t user, gid_t group)
{
	uid_t users[3];
	gid_t groups[3];
	struct capabilities now;

	if (getresuid(&users[0], &users[1], &users[2]) < 0 ||
	    getresgid(&groups[0], &groups[1], &groups[2]) < 0 || get(&now) < 0)
		return false;
	for (size_t i = 0; i < 3; i++)
		if (users[i] != user || groups[i] != group)
			return false;
	for (unsigned i = 0; i < WORDS; i++)
		if (now.data[i].effective || now.data[i].permitted)
			return false;
	return setuid(0) < 0 && setgid(0) < 0;
}

int nm_privileges_become(const char *user, char *why, size_t why_size)
{
	errno = 0;
	const struct passwd *who = getpwnam(user);

	if (!who) {
		int error = errno ? errno : ENOENT;

		(void)snprintf(why, why_size, "%s",
			       error == ENOENT ? "no such user" : strerror(error));
		return -error;
	}
	uid_t uid = who->pw_uid;
	gid_t gid = who->pw_gid;

	if (uid == 0) {
		(void)snprintf(why, why_size, "that is root: name a user without privileges");
		return -EINVAL;
	}
	if ((geteuid() == uid || initgroups(user, gid) == 0) && setresgid(gid, gid, gid) == 0 &&
	    setresuid(uid, uid, uid) == 0 && nm_privileges_keep(0) == 0 && is_only(uid, gid))
		return 0;
	int error = errno ? errno : EPERM;

	(void)snprintf(why, why_size, "cannot become that user: %s", strerror(error));
	return -error;
}
