/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a usage reading; parsers take text, so that tests can give them any. */
#ifndef NM_HOST_USAGE_PRIV_H
#define NM_HOST_USAGE_PRIV_H

#include "host/cpu_loads.h"
#include "host/usage.h"
#include "host/vectors.h"

/* Room for a file of /proc with a line for each CPU: for 4000 of them. */
#define HOST__PROC_TEXT (512 * 1024)

/* The first lines of /proc/stat. 0 or -EINVAL. */
int host__parse_stat(const char *text, long ticks_per_s, struct nm_cpu_times *ret_cpu);
/* Its lines of CPUs. 0, -EINVAL, or -E2BIG: there are more than NM_CPU_LOADS_MAX. */
int host__parse_cpu_loads(const char *text, struct nm_cpu_loads *ret_loads);
/* As above, or the reason where there are none: n < 0 is the error of reading the text. */
void host__take_cpu_loads(const char *text, long n, struct nm_cpu_loads *ret_loads);
/* Further lines of /proc/stat. 0; -EINVAL; -ENODATA: the kernel counts none. */
int host__parse_interrupts(const char *text, struct nm_interrupts *ret_interrupts);
/* /proc/softirqs, whole. As above. */
int host__parse_softirqs(const char *text, struct nm_softirqs *ret_softirqs);
/* /proc/net/softnet_stat: hexadecimal columns, a line for each CPU. 0 or -EINVAL. */
int host__parse_softnet(const char *text, struct nm_softnet *ret_softnet);
/* The total of a line of a file of /proc/pressure, "some" or "full"; -1: it has none. */
int64_t host__parse_pressure(const char *text, const char *kind);
/* /proc/net/snmp and /proc/net/netstat: pairs of lines, names and values. The value, or -EINVAL. */
int host__parse_snmp(const char *text, const char *group, const char *name, uint64_t *ret_value);
/* The counters of a group of these files; -EINVAL: one that every kernel has is not there. */
int host__parse_tcp(const char *text, const char *group, struct nm_tcp_counters *ret_counters);
/* The folder of the control group that limits the CPU, by /proc/self/cgroup: the length of the path
 * of its root; 0: there is none. */
size_t host__parse_cgroup(const char *text, char *ret_path, size_t size);
/* Adds what a cpu.stat has, of either version. */
void host__parse_cpu_stat(const char *text, struct nm_throttling *add);
void host__read_throttling(struct nm_throttling *ret_throttling);
/* Some kernels take 10 ms for the frequency of a CPU: no more are read. */
#define HOST__CPUFREQ_MAX 16
/* The frequencies below a tree as /sys/devices/system/cpu; whether there are any. */
bool host__read_cpufreq(const char *dir, struct nm_cpufreq *ret_cpufreq);
/* Interfaces over netlink. 0 or -errno; *ret_count of at most NM_USAGE_MAX_NICS; -E2BIG
 * when more than that have carried traffic. */
int host__read_nics(struct nm_nic *nics, size_t *ret_count);
/* The interface of a reading that has this name, or NULL. */
const struct nm_nic *host__find_nic(const struct nm_usage *usage, const char *name);
/* Whether a tree as /sys means this interface by the name: it shows the network namespace in which
 * it was mounted, which may be another one. */
bool host__is_nic_in_sysfs(const char *sys, const char *name, const struct nm_nic_id *id);
/* What a counter has grown by that begins at 0 again after 2^32. */
uint64_t host__counted(uint64_t before, uint64_t after);
/* The interrupts and vectors of one, in a tree as /sys; left as they are where not known. Those
 * that there is no room for are counted only. */
void host__read_vectors(const char *sys, struct nm_nic *nic, struct nm_vectors *add);

#endif
