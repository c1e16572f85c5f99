/* SPDX-License-Identifier: Apache-2.0 */
/* The options of connect and accept. */
#ifndef NM_FLOWOP_OPENING_H
#define NM_FLOWOP_OPENING_H

#include "base/opt.h"

extern const struct nm_opt nm_opening_opts[];

#endif
