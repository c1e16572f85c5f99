/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this host can do what a plan asks of it, looked at before anything is done. */
#ifndef NM_CONTROL_PREFLIGHT_H
#define NM_CONTROL_PREFLIGHT_H

#include "base/diag.h"
#include "plan/plan.h"

/* An error in diags for each thing that it cannot, with the place in the profile. */
void nm_preflight_check(const struct nm_plan *plan, const char *file, struct nm_diags *diags);

#endif
