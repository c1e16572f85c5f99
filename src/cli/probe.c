/* SPDX-License-Identifier: Apache-2.0 */
/* --probe: what this host is, as JSON. */
#include "report/probe.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "control/machine.h"

int nm_cli_probe(FILE *out, struct nm_diags *diags)
{
	struct nm_host_facts facts;
	char machine_id[NM_MACHINE_NAME];
	struct nm_usage *usage = malloc(sizeof *usage);
	struct nm_probe *probe = malloc(sizeof *probe);
	int code = NM_EXIT_INTERNAL;

	if (usage && probe) {
		nm_host_facts_read(&facts);
		nm_usage_read(usage);
		nm_unhalted_drop(nm_usage_unhalted_begin(usage));
		nm_usage_read_cpufreq(usage);
		nm_probe_read(probe);
		nm_machine_name(probe->machine_id, machine_id);
		const struct nm_probed probed = {nm_cli_version(), &facts, probe, usage,
						 machine_id};
		int error = nm_probe_write(&probed, out);

		code = error ? NM_EXIT_FAILED : NM_EXIT_OK;
		if (error)
			nm_diag_error(diags, NULL, 0, "--probe: %s", strerror(-error));
	} else {
		nm_diag_error(diags, NULL, 0, "--probe: no memory");
	}
	free(probe);
	free(usage);
	return code;
}
