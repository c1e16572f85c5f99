/* SPDX-License-Identifier: Apache-2.0 */
/* What connections that ask or serve share. */
#ifndef NM_ENGINE_APPS_H
#define NM_ENGINE_APPS_H

struct nm_engine;
struct nm_engine_group;

/* Makes it, where the group has such connections: 0 or -ENOMEM. */
int nm_apps_init(struct nm_engine *engine, struct nm_engine_group *group);
void nm_apps_fini(struct nm_engine *engine); /* all groups' */

#endif
