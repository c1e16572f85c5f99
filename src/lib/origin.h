/* SPDX-License-Identifier: Apache-2.0 */
/* Where a wrong value comes from, when it is not written where it is wrong. */
#ifndef NM_LIB_ORIGIN_H
#define NM_LIB_ORIGIN_H

#include "lib/load.h"

/* Adds to each error about a value that a parameter has brought from outside the profile which
 * parameter that is: "(from -D num_flows=0)"; and to what is said of options, errors and warnings,
 * which parameters have set these. loaded has been compiled. */
void nm_origin_add(const struct nm_loaded *loaded, struct nm_diags *diags);

#endif
