/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine is beyond its facts (facts.h): its network interfaces and its NUMA nodes.
 * For whoever plans a measurement; a run reads none of it. */
#ifndef NM_HOST_PROBE_H
#define NM_HOST_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PROBE_INTERFACES 64
#define NM_PROBE_ADDRESSES  8
#define NM_PROBE_NODES	    64

struct nm_probe_interface {
	char name[32];
	char driver[32], firmware[32], bus[32]; /* "": not known, as of most virtual ones */
	int64_t mtu, speed_mbps, node;		/* -1: not known */
	size_t n_addresses;
	char addresses[NM_PROBE_ADDRESSES][64]; /* without those of the link alone */
};

struct nm_probe_node {
	unsigned node;
	char cpus[256]; /* "0-3,8" */
};

struct nm_probe {
	char command_line[1024]; /* of the kernel; "": not known */
	char microcode[32];
	char machine_id[33]; /* machine-id(5), which is not to be told as it is; "": not known */
	bool irqbalance;     /* runs, as far as its processes can be seen */
	size_t n_interfaces, n_nodes;
	struct nm_probe_interface interfaces[NM_PROBE_INTERFACES];
	struct nm_probe_node nodes[NM_PROBE_NODES];
};

/* Never fails as a whole: what cannot be read is not known. */
void nm_probe_read(struct nm_probe *ret_probe);

#endif
