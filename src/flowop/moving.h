/* SPDX-License-Identifier: Apache-2.0 */
/* The options of flowops that move a message. */
#ifndef NM_FLOWOP_MOVING_H
#define NM_FLOWOP_MOVING_H

#include "base/opt.h"

extern const struct nm_opt nm_moving_opts[];

#endif
