/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions that handle the messages of a slave. */
#ifndef NM_CONTROL_MASTER_HANDLERS_H
#define NM_CONTROL_MASTER_HANDLERS_H

#include "control/master/master.h"

extern const nm_link_handler nm_master_handlers[NM_MESSAGE__COUNT];

#endif
