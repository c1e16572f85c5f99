/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of system calls is a list of the calls that are allowed. Calls that every transaction
 * makes stand there without conditions: the kernel then does not run the filter for them. */
#include "host/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct nm_sandbox {
	scmp_filter_ctx filter;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Words, by what they are for. */
static const char *const allowed[] = {
	/* moving bytes */
	"accept accept4 bind connect getpeername getsockname getsockopt listen pread64 "
	"preadv preadv2 pwrite64 pwritev pwritev2 read readv recv recvfrom recvmmsg "
	"recvmsg send sendfile sendfile64 sendmmsg sendmsg sendto setsockopt shutdown "
	"splice tee vmsplice write writev",
	/* waiting, and time */
	"clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl "
	"epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 getitimer gettimeofday "
	"io_uring_enter io_uring_register io_uring_setup nanosleep poll ppoll pselect6 "
	"restart_syscall select setitimer time timer_create timer_delete timer_getoverrun "
	"timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times",
	/* threads, processes and their signals */
	"alarm arch_prctl exit exit_group fork futex futex_waitv get_robust_list getcpu "
	"getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority "
	"getresgid getresuid getrlimit getrusage getsid gettid getuid kill membarrier "
	"pause perf_event_open rseq rt_sigaction rt_sigpending rt_sigprocmask "
	"rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait "
	"sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr "
	"sched_getparam sched_getscheduler sched_setaffinity sched_yield set_robust_list "
	"set_tid_address setpriority setrlimit sigaltstack signalfd4 tgkill ugetrlimit "
	"wait4 waitid",
	/* memory */
	"brk madvise map_shadow_stack mincore mlock mlock2 mmap mmap2 mprotect mremap "
	"msync munlock munmap",
	/* descriptors, and files that are there */
	"access close close_range dup dup2 dup3 faccessat faccessat2 fadvise64 fcntl "
	"fcntl64 fstat fstat64 fstatat64 fstatfs getcwd getdents getdents64 lseek _llseek "
	"lstat newfstatat pipe pipe2 readahead readlink readlinkat stat statfs statx",
	/* about the machine */
	"capget getrandom sysinfo uname",
};

/* Calls that nothing in netmodel makes by mistake. */
static const char deadly[] =
	"add_key bpf chroot delete_module execve execveat finit_module init_module "
	"kexec_file_load kexec_load keyctl mount move_mount open_by_handle_at pidfd_getfd "
	"pivot_root process_madvise process_vm_readv process_vm_writev ptrace reboot "
	"request_key setns setresuid setuid swapon umount2 unshare userfaultfd";

static const int prctls[] = {PR_SET_PDEATHSIG,	PR_SET_NAME,	 PR_GET_NAME,	  PR_SET_TIMERSLACK,
			     PR_GET_DUMPABLE,	PR_GET_SECCOMP,	 PR_CAPBSET_READ, PR_SET_VMA,
			     PR_GET_TIMERSLACK, PR_GET_PDEATHSIG};

/* TCGETS: isatty(3) makes it. */
static const unsigned long ioctls[] = {FIONREAD,    FIONBIO,	 TCGETS,       TIOCGWINSZ,
				       SIOCOUTQ,    SIOCOUTQNSD, SIOCGIFINDEX, SIOCGIFNAME,
				       SIOCETHTOOL, SIOCGIFCONF, SIOCGIFFLAGS, SIOCGIFMTU};

/* The ioctls of perf_event_open(2) are one group, and those of epoll another. */
#define IOCTL_GROUP_MASK  0xff00u
#define IOCTL_GROUP_PERF  ('$' << 8)
#define IOCTL_GROUP_EPOLL (0x8a << 8)

#define NEW_NAMESPACES                                                                             \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define WRITES_FILES (O_CREAT | O_TRUNC | O_APPEND)

#ifdef __s390__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* A call that an architecture does not have is no error. */
static int rule(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned n_conditions,
		const struct scmp_arg_cmp *conditions)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number == __NR_SCMP_ERROR)
		return 0;
	int r = seccomp_rule_add_array(filter, action, number, n_conditions, conditions);

	return r == -EDOM || r == -EACCES ? 0 : r;
}

/* A rule without conditions for each word. */
static int rules(scmp_filter_ctx filter, uint32_t action, const char *words)
{
	char name[32];
	int r = 0;

	for (int used; r == 0 && sscanf(words, "%31s%n", name, &used) == 1; words += used)
		r = rule(filter, action, name, 0, NULL);
	return r;
}

static int allow_if(scmp_filter_ctx filter, const char *name, struct scmp_arg_cmp condition)
{
	return rule(filter, SCMP_ACT_ALLOW, name, 1, &condition);
}

static int allow_socket(scmp_filter_ctx filter, int family, unsigned arg, uint64_t mask,
			uint64_t value)
{
	const struct scmp_arg_cmp conditions[] = {
		SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family, 0),
		SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, value),
	};

	return rule(filter, SCMP_ACT_ALLOW, "socket", COUNT_OF(conditions), conditions);
}

/* No packets of one's own making, and none of the networks of machines. */
static int add_sockets(scmp_filter_ctx filter)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	static const int links[] = {NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_SOCK_DIAG};
	int r = allow_if(filter, "socketpair", SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0));

	for (size_t i = 0; i < COUNT_OF(types) && r == 0; i++) {
		r = allow_socket(filter, AF_INET, 1, 0xf, (uint64_t)types[i]);
		if (r == 0)
			r = allow_socket(filter, AF_INET6, 1, 0xf, (uint64_t)types[i]);
		if (r == 0)
			r = allow_socket(filter, AF_UNIX, 1, 0xf, (uint64_t)types[i]);
		if (r == 0)
			r = allow_socket(filter, AF_VSOCK, 1, 0xf, (uint64_t)types[i]);
	}
	for (size_t i = 0; i < COUNT_OF(links) && r == 0; i++)
		r = allow_socket(filter, AF_NETLINK, 2, ~(uint64_t)0, (uint64_t)links[i]);
	return r;
}

static int add_conditions(scmp_filter_ctx filter)
{
	int r = add_sockets(filter);

	for (size_t i = 0; i < COUNT_OF(prctls) && r == 0; i++)
		r = allow_if(filter, "prctl", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)prctls[i], 0));
	for (size_t i = 0; i < COUNT_OF(ioctls) && r == 0; i++)
		r = allow_if(filter, "ioctl", SCMP_A1(SCMP_CMP_EQ, ioctls[i], 0));
	if (r == 0)
		r = allow_if(filter, "ioctl",
			     SCMP_A1(SCMP_CMP_MASKED_EQ, IOCTL_GROUP_MASK, IOCTL_GROUP_PERF));
	if (r == 0)
		r = allow_if(filter, "ioctl",
			     SCMP_A1(SCMP_CMP_MASKED_EQ, IOCTL_GROUP_MASK, IOCTL_GROUP_EPOLL));
	if (r == 0)
		r = allow_if(filter, "clone",
			     SCMP_CMP(CLONE_FLAGS, SCMP_CMP_MASKED_EQ, NEW_NAMESPACES, 0));
	/* Its flags are in memory, where no filter sees them; the C library then asks clone. */
	if (r == 0)
		r = rule(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
	if (r == 0)
		r = allow_if(filter, "prlimit64", SCMP_A0(SCMP_CMP_EQ, 0, 0));
	if (r == 0)
		r = allow_if(filter, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, WRITES_FILES, 0));
	if (r == 0)
		r = allow_if(filter, "open", SCMP_A1(SCMP_CMP_MASKED_EQ, WRITES_FILES, 0));
	return r;
}

static int fill(scmp_filter_ctx filter)
{
	int r = 0;

	/* Speculation is left to the system: older kernels would slow the process down. Only Linux
	 * from 4.17 on can be told so. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < COUNT_OF(allowed) && r == 0; i++)
		r = rules(filter, SCMP_ACT_ALLOW, allowed[i]);
	if (r == 0)
		r = rules(filter, SCMP_ACT_KILL_PROCESS, deadly);
	return r == 0 ? add_conditions(filter) : r;
}

static bool strict;

void nm_sandbox_be_strict(void)
{
	strict = true;
}

/* Whether the kernel takes filters: one that does looks for the filter where there is none. */
static bool kernel_has_filters(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno == EFAULT;
}

int nm_sandbox_new(struct nm_sandbox **ret_sandbox)
{
	struct nm_sandbox *sandbox = calloc(1, sizeof *sandbox);

	if (!sandbox)
		return -ENOMEM;
	*ret_sandbox = sandbox;
	if (!kernel_has_filters())
		return 0;
	sandbox->filter = seccomp_init(strict ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM));
	int r = sandbox->filter ? fill(sandbox->filter) : -ENOMEM;

	if (r < 0)
		*ret_sandbox = nm_sandbox_free(sandbox);
	return r;
}

bool nm_sandbox_filters(const struct nm_sandbox *sandbox)
{
	return sandbox->filter;
}

struct nm_sandbox *nm_sandbox_free(struct nm_sandbox *sandbox)
{
	if (sandbox && sandbox->filter)
		seccomp_release(sandbox->filter);
	free(sandbox);
	return NULL;
}

void nm_sandbox_keep_memory(void)
{
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int nm_sandbox_enter(const struct nm_sandbox *sandbox)
{
	nm_sandbox_keep_memory();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return sandbox->filter ? seccomp_load(sandbox->filter) : 0;
}
