/* SPDX-License-Identifier: Apache-2.0 */
/* CPU lists and placement. */
#ifndef NM_HOST_CPUS_H
#define NM_HOST_CPUS_H

#include <stddef.h>

struct nm_cpu_list {
	unsigned *cpus;
	size_t count; /* 0: no placement */
};

/* Where Linux tells of NUMA nodes. */
#define NM_CPU_NODES "/sys/devices/system/node"

/* "0-3,8", or "nodes", which is nm_cpu_list_of_nodes(): 0, -EINVAL (form) or -ERANGE (a CPU this
 * host does not have or this process may not use). The list is owned. */
int nm_cpu_list_parse(const char *text, struct nm_cpu_list *ret_list);
/* What a failure of nm_cpu_list_parse means: which CPU, and which are allowed; one phrase. */
void nm_cpu_list_explain(const char *text, int error, char *why, size_t why_size);
/* Only the form of the list: for lists that another host will use. */
int nm_cpu_list_check_form(const char *text);
/* CPUs of each NUMA node in turn, of those that this process may use: number i is of node i modulo
 * the number of nodes. `dir` is NM_CPU_NODES; where there is none, all CPUs are of one node. 0 or
 * -errno. The list is owned. */
int nm_cpu_list_of_nodes(const char *dir, struct nm_cpu_list *ret_list);
void nm_cpu_list_fini(struct nm_cpu_list *list);
/* Binds the calling thread to one CPU; 0 or -errno. */
unsigned nm_cpu_count(void); /* that this process may use; at least 1 */
int nm_cpu_bind_self(unsigned cpu);

#endif
