/* SPDX-License-Identifier: Apache-2.0 */
/* What --probe prints: what a host is, and which figures of a result cannot be had on it. */
#ifndef NM_REPORT_PROBE_H
#define NM_REPORT_PROBE_H

#include <stdio.h>

#include "host/facts.h"
#include "host/probe.h"
#include "host/usage.h"

/* What was read, and by which version; borrowed. */
struct nm_probed {
	const char *version;
	const struct nm_host_facts *facts;
	const struct nm_probe *probe;
	const struct nm_usage *usage;
	const char *machine_id; /* tells the machine from others; "": not known */
};

/* Writes a document with the schema netmodel.probe/1. 0 or -errno. */
int nm_probe_write(const struct nm_probed *probed, FILE *out);

#endif
