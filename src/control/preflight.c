/* SPDX-License-Identifier: Apache-2.0 */
#include "control/preflight.h"

#include "host/awake.h"

static void check_awake(const struct nm_group *group, const char *file, struct nm_diags *diags)
{
	char why[192];

	if (group->runs && group->awake && nm_cpus_check_awake(why, sizeof why) < 0)
		nm_diag_error(diags, file, group->line, "<group> wait=\"awake\": %s", why);
}

void nm_preflight_check(const struct nm_plan *plan, const char *file, struct nm_diags *diags)
{
	(void)nm_plan_check_protocols(plan, file, diags);
	for (uint32_t g = 0; g < plan->n_groups; g++)
		check_awake(&plan->groups[g], file, diags);
}
