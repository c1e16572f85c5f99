/* SPDX-License-Identifier: Apache-2.0 */
/* CPU lists and placement. */
#ifndef NM_HOST_CPUS_H
#define NM_HOST_CPUS_H

#include <stddef.h>

struct nm_cpu_list {
	unsigned *cpus;
	size_t count; /* 0: no placement */
};

/* The folder in which Linux describes NUMA nodes. */
#define NM_CPU_NODES "/sys/devices/system/node"

/* "0-3,8", or "nodes", which is nm_cpu_list_of_nodes(): 0, -EINVAL (form) or -ERANGE (a CPU this
 * host does not have or this process may not use). The list is owned. */
int nm_cpu_list_parse(const char *text, struct nm_cpu_list *ret_list);
/* All CPUs that a file as /sys/devices/system/cpu/online lists, whether this process may use them
 * or not. 0 or -errno. The list is owned. */
int nm_cpu_list_read(const char *path, struct nm_cpu_list *ret_list);
/* Explains a failure of nm_cpu_list_parse in one phrase: which CPU is wrong, and which are
 * allowed. */
void nm_cpu_list_explain(const char *text, int error, char *why, size_t why_size);
/* Only the form of the list: for lists that another host will use. */
int nm_cpu_list_check_form(const char *text);
/* The CPUs that this process may use, of each NUMA node in turn: number i is of node i modulo the
 * number of nodes. `dir` is NM_CPU_NODES; without that folder all CPUs are of one node. 0 or
 * -errno. The list is owned. */
int nm_cpu_list_of_nodes(const char *dir, struct nm_cpu_list *ret_list);
void nm_cpu_list_fini(struct nm_cpu_list *list);
unsigned nm_cpu_count(void); /* CPUs that this process may use; at least 1 */
/* Binds the calling thread to one CPU; 0 or -errno. */
int nm_cpu_bind_self(unsigned cpu);

#endif
