/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the pool of payloads, and the stores of netmodel's own servers. */
#include "engine/apps.h"

#include <errno.h>
#include <stdlib.h>

#include "app/app.h"
#include "app/store.h"
#include "engine/engine_priv.h"
#include "plan/shape.h"

/* Of the values that a protocol's servers have; the oldest give way to new ones. */
#define STORE_BYTES (UINT64_C(256) << 20)

static uint32_t index_of(const struct nm_app *app)
{
	uint32_t i = 0;

	while (nm_apps[i] && nm_apps[i] != app)
		i++;
	return i;
}

/* Whoever speaks a protocol here has the same store, as the clients of one server do. */
static int init_service(struct nm_engine *engine, struct nm_engine_group *group,
			const struct nm_instr *serve)
{
	struct nm_store **store = &engine->stores[index_of(serve->ask.app)];

	struct nm_app_service *service = &group->services[serve->opening];

	service->pool = group->pool;
	if (!serve->ask.app->stores)
		return 0;
	if (!*store)
		*store = nm_store_new(STORE_BYTES);
	service->store = *store;
	return service->store ? 0 : -ENOMEM;
}

int nm_apps_init(struct nm_engine *engine, struct nm_engine_group *group)
{
	const struct nm_group *plan = group->plan;
	int r = 0;

	if (!plan->app_bytes)
		return 0;
	group->pool = nm_pool_new();
	group->services = calloc(plan->n_openings + 1, sizeof *group->services);
	if (!engine->stores)
		engine->stores = calloc(index_of(NULL) + 1, sizeof(*engine->stores));
	if (!group->pool || !group->services || !engine->stores)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < plan->n_instrs; i++)
		if (nm_instr_serves(&plan->instrs[i]))
			r = init_service(engine, group, &plan->instrs[i]);
	return r;
}

void nm_apps_fini(struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		free(engine->groups[g].services);
		engine->groups[g].pool = nm_pool_free(engine->groups[g].pool);
	}
	for (uint32_t i = 0; engine->stores && nm_apps[i]; i++)
		nm_store_free(engine->stores[i]);
	free(engine->stores);
}
