/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events of the hardware and the kernel by perf_event_open(2). */
#include "host/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/pfmlib_perf_event.h>

#include "host/procfile.h"

enum { USER, KERNEL, N_SIDES };

struct counter {
	char name[NM_PERF_NAME];
	int fds[N_SIDES]; /* -1: not had */
	bool undivided;	  /* the first counts for both sides */
	char why[96];
};

struct nm_perf {
	size_t count;
	struct counter items[NM_PERF_MAX];
};

/* As the kernel gives it, by the format that is asked for. */
struct reading {
	uint64_t value, enabled_ns, running_ns;
};

int nm_perf_check_form(const char *list)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_:.=";
	size_t count = 0;

	for (const char *at = list;; at++) {
		size_t length = strspn(at, allowed);

		at += length;
		if (length == 0 || (*at != ',' && *at != '\0'))
			return -EINVAL;
		if (length >= NM_PERF_NAME || ++count > NM_PERF_MAX)
			return -ERANGE;
		if (*at == '\0')
			return 0;
	}
}

static void tell_why(struct counter *counter, int error)
{
	char level[32];
	long n;

	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		(void)snprintf(counter->why, sizeof counter->why,
			       "this machine does not offer it (virtual machines often do not): %s",
			       strerror(error));
		return;
	case EACCES:
	case EPERM:
		n = nm_procfile_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
		(void)snprintf(counter->why, sizeof counter->why,
			       "not permitted (kernel.perf_event_paranoid is %.*s; slaves lend it "
			       "with --allow counters)",
			       n > 0 ? (int)strcspn(level, "\n") : 7, n > 0 ? level : "unknown");
		return;
	case ENOSYS:
		(void)snprintf(counter->why, sizeof counter->why,
			       "this kernel has no performance events");
		return;
	default:
		(void)snprintf(counter->why, sizeof counter->why, "perf_event_open: %s",
			       strerror(error));
	}
}

/* The kernel's software clocks (perf_event_open(2)) take no notice of exclude_user and
 * exclude_kernel. */
static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void open_counter(struct counter *counter)
{
	for (int side = USER; side < N_SIDES && !counter->undivided; side++) {
		struct perf_event_attr attr = {.size = sizeof attr};
		pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg};
		int r = pfm_get_os_event_encoding(counter->name, side == USER ? PFM_PLM3 : PFM_PLM0,
						  PFM_OS_PERF_EVENT, &arg);

		counter->fds[side] = -1;
		if (r != PFM_SUCCESS) {
			(void)snprintf(counter->why, sizeof counter->why, "libpfm4: %s",
				       pfm_strerror(r));
			continue;
		}
		counter->undivided = is_clock(&attr);
		attr.exclude_user = side != USER;
		attr.exclude_kernel = side != KERNEL;
		attr.exclude_hv = 1;
		attr.inherit = 1;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			tell_why(counter, errno);
		else
			counter->fds[side] = (int)fd;
	}
}

int nm_perf_open(const char *list, struct nm_perf **ret_perf)
{
	struct nm_perf *perf = calloc(1, sizeof *perf);
	int ready = pfm_initialize();

	*ret_perf = perf;
	if (!perf)
		return -ENOMEM;
	for (const char *at = list; *at && perf->count < NM_PERF_MAX;) {
		struct counter *counter = &perf->items[perf->count++];
		size_t length = strcspn(at, ",");

		(void)snprintf(counter->name, sizeof counter->name, "%.*s", (int)length, at);
		counter->fds[USER] = counter->fds[KERNEL] = -1;
		if (ready == PFM_SUCCESS)
			open_counter(counter);
		else
			(void)snprintf(counter->why, sizeof counter->why, "libpfm4: %s",
				       pfm_strerror(ready));
		at += length + (at[length] == ',');
	}
	return 0;
}

struct nm_perf *nm_perf_close(struct nm_perf *perf)
{
	for (size_t i = 0; perf && i < perf->count; i++) {
		for (int side = USER; side < N_SIDES; side++) {
			if (perf->items[i].fds[side] >= 0)
				(void)close(perf->items[i].fds[side]);
		}
	}
	free(perf);
	return NULL;
}

/* The count, as if it had been counted all the time. False when it never was. */
static bool read_side(int fd, uint64_t *ret_value, double *share)
{
	struct reading r;

	if (fd < 0 || read(fd, &r, sizeof r) != (ssize_t)sizeof r)
		return false;
	*ret_value = r.value;
	if (r.running_ns >= r.enabled_ns)
		return true;
	double of_all = (double)r.running_ns / (double)r.enabled_ns;

	if (of_all > 0)
		*ret_value = (uint64_t)((double)r.value / of_all);
	if (of_all < *share)
		*share = of_all;
	return of_all > 0;
}

void nm_perf_read(const struct nm_perf *perf, struct nm_perf_values *ret_values)
{
	*ret_values = (struct nm_perf_values){.count = perf ? perf->count : 0};
	for (size_t i = 0; i < ret_values->count; i++) {
		const struct counter *counter = &perf->items[i];
		struct nm_perf_value *value = &ret_values->items[i];

		memcpy(value->name, counter->name, sizeof value->name);
		memcpy(value->why, counter->why, sizeof value->why);
		value->share = 1;
		if (counter->undivided) {
			value->has_total =
				read_side(counter->fds[USER], &value->total, &value->share);
		} else {
			value->has_user =
				read_side(counter->fds[USER], &value->user, &value->share);
			value->has_kernel =
				read_side(counter->fds[KERNEL], &value->kernel, &value->share);
			value->has_total = value->has_user && value->has_kernel;
			value->total = value->user + value->kernel;
		}
		if (!value->has_total && !*value->why)
			(void)snprintf(value->why, sizeof value->why,
				       "other counters took all the time of the hardware");
	}
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

void nm_perf_delta(const struct nm_perf_values *before, const struct nm_perf_values *after,
		   struct nm_perf_values *ret_delta)
{
	struct nm_perf_values delta = *after;

	for (size_t i = 0; i < delta.count && i < before->count; i++) {
		delta.items[i].user = grown(before->items[i].user, delta.items[i].user);
		delta.items[i].kernel = grown(before->items[i].kernel, delta.items[i].kernel);
		delta.items[i].total = grown(before->items[i].total, delta.items[i].total);
	}
	*ret_delta = delta;
}
