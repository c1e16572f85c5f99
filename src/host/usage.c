/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what this host and this process have used, and takes differences of two readings. */
#include "host/usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/procfile.h"
#include "host/usage_priv.h"

#define CPUS_CAME_OR_WENT "CPUs came or went"

const char *nm_softirq_name(enum nm_softirq kind)
{
#define OUR_NAME(word, kernels, ours) ours,
	static const char *const names[] = {NM_SOFTIRQS(OUR_NAME)};
#undef OUR_NAME

	return names[kind];
}

bool nm_softirq_known(const struct nm_softirqs *softirqs, enum nm_softirq kind)
{
	return softirqs->known >> kind & 1;
}

/* Why a file has not given its figures: the error of reading it, else of its text. */
static const char *why_not(long read_error, int parse_error)
{
	return read_error < 0		 ? strerror((int)-read_error)
	       : parse_error == -ENODATA ? "the kernel does not count them"
					 : "unknown form";
}

/* Whether a file has given its figures, by what reading it (n) and parsing it (r) returned;
 * otherwise the reason is in why. */
static bool are_there(const char *path, long n, int r, char *why, size_t size)
{
	bool there = n >= 0 && r == 0;

	if (!there)
		snprintf(why, size, "%s: %s", path, why_not(n, r));
	return there;
}

static void read_stat(struct nm_usage *u, struct nm_cpu_loads *cpus, char *text)
{
	static const char path[] = "/proc/stat";
	long n = nm_procfile_read(path, text, HOST__PROC_TEXT);
	int r = n < 0 ? 0 : host__parse_interrupts(text, &u->interrupts);

	u->has_interrupts = are_there(path, n, r, u->interrupts_why, sizeof u->interrupts_why);
	r = n < 0 ? 0 : host__parse_stat(text, sysconf(_SC_CLK_TCK), &u->cpu);
	u->has_cpu = are_there(path, n, r, u->cpu_why, sizeof u->cpu_why);
	if (cpus)
		host__take_cpu_loads(text, n, cpus);
}

static void read_softirqs(struct nm_usage *u, char *text)
{
	static const char path[] = "/proc/softirqs";
	long n = nm_procfile_read(path, text, HOST__PROC_TEXT);
	int r = n < 0 ? 0 : host__parse_softirqs(text, &u->softirqs);

	u->has_softirqs = are_there(path, n, r, u->softirqs_why, sizeof u->softirqs_why);
}

static void read_softnet(struct nm_usage *u, char *text)
{
	static const char path[] = "/proc/net/softnet_stat";
	long n = nm_procfile_read(path, text, HOST__PROC_TEXT);
	int r = n < 0 ? 0 : host__parse_softnet(text, &u->softnet);

	u->has_softnet = are_there(path, n, r, u->softnet_why, sizeof u->softnet_why);
}

static int64_t read_pressure_of(const char *file, const char *kind, char *text, long *ret_error)
{
	long n = nm_procfile_readf(text, HOST__PROC_TEXT, "/proc/pressure/%s", file);

	if (n < 0)
		*ret_error = n;
	return n < 0 ? -1 : host__parse_pressure(text, kind);
}

static void read_pressure(struct nm_usage *u, char *text)
{
	long error = 0;

#define READ(file, kind)                                                                           \
	u->pressure.file##_##kind##_ns = read_pressure_of(#file, #kind, text, &error);             \
	u->has_pressure |= u->pressure.file##_##kind##_ns >= 0;
	NM_PRESSURES(READ)
#undef READ
	/* Built in, but not turned on when the kernel was started. */
	if (!u->has_pressure)
		snprintf(u->pressure_why, sizeof u->pressure_why, "/proc/pressure: %s",
			 error == -EOPNOTSUPP || error == -ENOENT
				 ? "off, or not in this kernel (psi=1 turns it on at the boot)"
				 : why_not(error, 0));
}

/* The counters of a file that stand in its lines of a group. */
static bool read_tcp_group(struct nm_usage *u, const char *file, const char *group, char *text)
{
	char path[64];
	long n = nm_procfile_readf(text, HOST__PROC_TEXT, "/proc/self/net/%s", file);
	int r = n < 0 ? 0 : host__parse_tcp(text, group, &u->tcp);

	snprintf(path, sizeof path, "/proc/net/%s", file);
	return are_there(path, n, r, u->tcp_why, sizeof u->tcp_why);
}

static void read_tcp(struct nm_usage *u, char *text)
{
	u->has_tcp = read_tcp_group(u, "snmp", "Tcp", text) &&
		     read_tcp_group(u, "netstat", "TcpExt", text);
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

void nm_rusage_read(struct nm_rusage *process)
{
	struct rusage r;

	*process = (struct nm_rusage){.utime_ns = 0};
	if (getrusage(RUSAGE_SELF, &r) < 0)
		return;
	*process = (struct nm_rusage){.utime_ns = timeval_ns(&r.ru_utime),
				      .stime_ns = timeval_ns(&r.ru_stime),
				      .maxrss_kb = (uint64_t)r.ru_maxrss,
				      .minflt = (uint64_t)r.ru_minflt,
				      .majflt = (uint64_t)r.ru_majflt,
				      .nvcsw = (uint64_t)r.ru_nvcsw,
				      .nivcsw = (uint64_t)r.ru_nivcsw};
}

static int read_psp_devices(struct nm_psp *psp, struct nm_usage *u)
{
	struct nm_psp_device devices[NM_PSP_MAX_DEVICES];
	size_t count = 0;
	int r = nm_psp_devices(psp, devices, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct nm_psp_usage *device = &u->psp[i];

		memcpy(device->name, devices[i].name, sizeof device->name);
		device->id = devices[i].id;
		r = nm_psp_stats(psp, device->id, &device->stats);
	}
	u->n_psp = r == 0 ? count : 0;
	return r;
}

static void read_psp(struct nm_usage *u)
{
	struct nm_psp *psp = NULL;
	int r = nm_psp_open(&psp);

	if (r == 0)
		r = read_psp_devices(psp, u);
	nm_psp_close(psp);
	u->has_psp = r == 0 || r == -ENOENT;
	if (!u->has_psp)
		snprintf(u->psp_why, sizeof u->psp_why, "PSP devices: %s", strerror(-r));
}

void nm_usage_read(struct nm_usage *ret_usage)
{
	nm_usage_read_with_cpus(ret_usage, NULL);
}

void nm_usage_read_with_cpus(struct nm_usage *ret_usage, struct nm_cpu_loads *ret_cpus)
{
	char *text = malloc(HOST__PROC_TEXT);

	memset(ret_usage, 0, sizeof *ret_usage);
	ret_usage->at_ns = nm_clock_ns();
	nm_rusage_read(&ret_usage->process);
	host__read_throttling(&ret_usage->throttling);
	if (text) {
		read_stat(ret_usage, ret_cpus, text);
		read_softirqs(ret_usage, text);
		read_softnet(ret_usage, text);
		read_pressure(ret_usage, text);
		read_tcp(ret_usage, text);
	} else {
#define WHY(part) snprintf(ret_usage->part##_why, sizeof ret_usage->part##_why, "out of memory");
		NM_USAGE_PARTS(WHY)
#undef WHY
		if (ret_cpus)
			host__take_cpu_loads(NULL, -ENOMEM, ret_cpus);
	}
	free(text);
	int r = host__read_nics(ret_usage->nics, &ret_usage->n_nics);

	ret_usage->has_nics = r == 0;
	if (r < 0)
		snprintf(ret_usage->nics_why, sizeof ret_usage->nics_why, "rtnetlink: %s",
			 r == -E2BIG ? "more interfaces carry traffic than can be counted"
				     : strerror(-r));
	read_psp(ret_usage);
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

/* The kernel adds up counters that have 32 bits on each CPU, and begin at 0 again. */
uint64_t host__counted(uint64_t before, uint64_t after)
{
	return after >= before ? after - before : (after - before) & UINT32_MAX;
}

static void interrupts_delta(const struct nm_usage *b, const struct nm_usage *a, struct nm_usage *d)
{
	const struct nm_softirqs *softirqs = &b->softirqs;

	d->interrupts = (struct nm_interrupts){
		.hardware = host__counted(b->interrupts.hardware, a->interrupts.hardware),
		.context_switches =
			grown(b->interrupts.context_switches, a->interrupts.context_switches)};
	d->softirqs.total = host__counted(softirqs->total, a->softirqs.total);
	d->softirqs.known = softirqs->known & a->softirqs.known;
	for (size_t i = 0; i < NM_N_SOFTIRQS; i++)
		d->softirqs.kinds[i] = host__counted(softirqs->kinds[i], a->softirqs.kinds[i]);
}

static void softnet_delta(const struct nm_softnet *before, const struct nm_softnet *after,
			  struct nm_softnet *delta)
{
#define COUNTED(member, ...) delta->member = host__counted(before->member, after->member);
	NM_SOFTNET_COUNTERS(COUNTED)
#undef COUNTED
}

const struct nm_nic *host__find_nic(const struct nm_usage *usage, const char *name)
{
	for (size_t i = 0; i < usage->n_nics; i++)
		if (strcmp(usage->nics[i].name, name) == 0)
			return &usage->nics[i];
	return NULL;
}

/* Vectors that came or went have taken their counts with them, and some are made anew under the
 * numbers that they had: a count that is less is no counter that began at 0 again unless it was
 * near its end. */
static bool are_same_vectors(const struct nm_nic *old, const struct nm_nic *nic)
{
	return old->vectors == nic->vectors && old->which == nic->which &&
	       (nic->interrupts >= old->interrupts || old->interrupts > UINT32_MAX / 2);
}

static void nic_delta(const struct nm_nic *old, struct nm_nic *nic)
{
	bool known = old && are_same_vectors(old, nic);
	uint64_t interrupts = known ? host__counted(old->interrupts, nic->interrupts) : 0;
	uint64_t vectors = known ? nic->vectors : 0;

	if (old)
		nm_fields_subtract(nm_nic_fields, old, nic, nic);
	nic->vectors = vectors;
	nic->interrupts = interrupts;
}

static void psp_delta(const struct nm_usage *before, struct nm_psp_usage *device)
{
	for (size_t i = 0; i < before->n_psp; i++)
		if (before->psp[i].id == device->id)
			nm_fields_subtract(nm_psp_fields, &before->psp[i].stats, &device->stats,
					   &device->stats);
}

/* The reason of the earlier reading, if that is where it was missing. */
static void keep_why(bool before_has, const char *before_why, char *why, size_t size)
{
	if (!before_has)
		snprintf(why, size, "%s", before_why);
}

/* A share of so few ticks says nothing: a whole tick of a CPU counts for one use, no matter what
 * ran in the rest of it. */
static bool is_too_short(const struct nm_cpu_times *cpu)
{
	uint64_t all_ns = cpu->user_ns + cpu->nice_ns + cpu->system_ns + cpu->idle_ns +
			  cpu->iowait_ns + cpu->irq_ns + cpu->softirq_ns + cpu->steal_ns;
	long per_s = sysconf(_SC_CLK_TCK);

	return per_s <= 0 || all_ns < NM_CPU_TICKS_MIN * (UINT64_C(1000000000) / (uint64_t)per_s);
}

void nm_usage_delta(const struct nm_usage *before, const struct nm_usage *after,
		    struct nm_usage *ret_delta)
{
	struct nm_usage delta = *after;

	delta.at_ns = grown(before->at_ns, after->at_ns);
#define BOTH(part)                                                                                 \
	delta.has_##part = before->has_##part && after->has_##part;                                \
	keep_why(before->has_##part, before->part##_why, delta.part##_why, sizeof delta.part##_why);
	NM_USAGE_PARTS(BOTH)
#undef BOTH
	if (delta.has_cpu)
		nm_fields_subtract(nm_cpu_fields, &before->cpu, &after->cpu, &delta.cpu);
	else
		delta.cpu = (struct nm_cpu_times){.n_cpus = 0};
	if (delta.has_cpu && is_too_short(&delta.cpu)) {
		delta.has_cpu = false;
		snprintf(delta.cpu_why, sizeof delta.cpu_why, NM_CPU_TOO_SHORT, NM_CPU_TICKS_MIN);
	}
	for (size_t i = 0; i < delta.n_psp; i++)
		psp_delta(before, &delta.psp[i]);
	if (delta.has_softnet && before->softnet.which != after->softnet.which) {
		delta.has_softnet = false;
		snprintf(delta.softnet_why, sizeof delta.softnet_why, CPUS_CAME_OR_WENT);
	}
	interrupts_delta(before, after, &delta);
	softnet_delta(&before->softnet, &after->softnet, &delta.softnet);
	nm_fields_subtract(nm_pressure_fields, &before->pressure, &after->pressure,
			   &delta.pressure);
	nm_fields_subtract(nm_unhalted_fields, &before->unhalted, &after->unhalted,
			   &delta.unhalted);
	delta.cpufreq.begin_khz = before->cpufreq.begin_khz;
	if (delta.has_cpufreq && before->cpufreq.n_cpus != after->cpufreq.n_cpus) {
		delta.has_cpufreq = false;
		snprintf(delta.cpufreq_why, sizeof delta.cpufreq_why, CPUS_CAME_OR_WENT);
	}
	nm_fields_subtract(nm_rusage_fields, &before->process, &after->process, &delta.process);
	delta.process_start = before->process;
	nm_fields_subtract(nm_throttling_fields, &before->throttling, &after->throttling,
			   &delta.throttling);
	nm_fields_subtract(nm_tcp_counter_fields, &before->tcp, &after->tcp, &delta.tcp);
	for (size_t i = 0; i < delta.n_nics; i++)
		nic_delta(host__find_nic(before, delta.nics[i].name), &delta.nics[i]);
	*ret_delta = delta;
}

void nm_usage_row_of(const struct nm_usage *delta, struct nm_usage_row *ret_row)
{
#define KNOWN(member, part, at, what) ret_row->member = delta->has_##part ? (int64_t)delta->at : -1;
	NM_USAGE_ROW(KNOWN)
#undef KNOWN
}

struct nm_unhalted_window *nm_usage_unhalted_begin(struct nm_usage *usage)
{
	struct nm_unhalted_window *window =
		nm_unhalted_begin(usage->unhalted_why, sizeof usage->unhalted_why);

	usage->unhalted = (struct nm_unhalted){.n_cpus = 0};
	usage->has_unhalted = window != NULL;
	if (window)
		usage->unhalted_why[0] = '\0';
	return window;
}

void nm_usage_unhalted_end(struct nm_unhalted_window *window, struct nm_usage *usage)
{
	usage->has_unhalted =
		window && nm_unhalted_end(window, &usage->unhalted, usage->unhalted_why,
					  sizeof usage->unhalted_why) == 0;
}
