/* SPDX-License-Identifier: Apache-2.0 */
/* The table of permissions, and the check which of them a plan needs. */
#include "control/slave/allow.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/privileges.h"
#include "host/procfile.h"
#include "plan/shape.h"
#include "transport/transport.h"

enum word { AWAKE, BUSY_POLL, CC, COUNTERS, DEBUG, DEVICE, KTLS, MARK, PORT, N_WORDS };

/* Whether a word of a list of the kernel's is there. */
static bool is_listed(const char *path, const char *word)
{
	char list[1024];
	size_t length = strlen(word);

	if (nm_procfile_read(path, list, sizeof list) <= 0)
		return false;
	for (const char *at = list; *at;) {
		size_t n = strcspn(at, " \n");

		if (n == length && memcmp(at, word, n) == 0)
			return true;
		at += n + strspn(at + n, " \n");
	}
	return false;
}

static bool is_set(const void *value)
{
	return *(const uint64_t *)value != 0;
}

static bool is_flagged(const void *value)
{
	return *(const bool *)value;
}

static bool is_named(const void *value)
{
	const char *text = *(char *const *)value;

	return text && *text;
}

static bool is_no_common_cc(const void *value)
{
	return is_named(value) && !is_listed("/proc/sys/net/ipv4/tcp_allowed_congestion_control",
					     *(char *const *)value);
}

/* The system's own time is no more than any process has. */
static bool is_longer_poll(const void *value)
{
	return *(const uint64_t *)value >
	       nm_procfile_number(0, "/proc/sys/net/core/busy_read") * 1000;
}

/* Its module has to be loaded first. */
static bool is_new_ktls(const void *value)
{
	return is_flagged(value) && !is_listed("/proc/sys/net/ipv4/tcp_available_ulp", "tls");
}

static const struct {
	const char *word;
	const char *option; /* an option of flowops that open connections; NULL: none */
	bool (*needs)(const void *value);
	uint64_t capabilities;
} table[N_WORDS] = {
	[AWAKE] = {"awake", NULL, NULL, 0},
	[BUSY_POLL] = {"busy_poll", "busy_poll", is_longer_poll, NM_CAP(CAP_NET_ADMIN)},
	[CC] = {"cc", "cc", is_no_common_cc, NM_CAP(CAP_NET_ADMIN)},
	[COUNTERS] = {"counters", NULL, NULL, NM_CAP(CAP_PERFMON)},
	[DEBUG] = {"debug", "debug", is_flagged, NM_CAP(CAP_NET_ADMIN)},
	[DEVICE] = {"device", "bind_to_device", is_named, NM_CAP(CAP_NET_RAW)},
	[KTLS] = {"ktls", "ktls", is_new_ktls, NM_CAP(CAP_NET_ADMIN)},
	[MARK] = {"mark", "mark", is_set, NM_CAP(CAP_NET_ADMIN)},
	[PORT] = {"port", NULL, NULL, NM_CAP(CAP_NET_BIND_SERVICE)},
};

int nm_allow_parse(const char *list, uint32_t *ret_allowed, char *why, size_t why_size)
{
	uint32_t allowed = 0;

	for (const char *at = list ? list : ""; *at;) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < N_WORDS &&
		       (strlen(table[i].word) != n || memcmp(at, table[i].word, n) != 0))
			i++;
		if (i == N_WORDS) {
			int used = snprintf(why, why_size, "\"%.*s\" is none of", (int)n, at);

			for (i = 0; i < N_WORDS && used > 0 && (size_t)used < why_size; i++)
				used += snprintf(why + used, why_size - (size_t)used, "%s %s",
						 i ? "," : "", table[i].word);
			return -EINVAL;
		}
		allowed |= 1u << i;
		at += n + (at[n] == ',');
	}
	*ret_allowed = allowed;
	return 0;
}

/* More descriptors and locked memory for traffic, and a higher priority for its session, are the
 * slave's own choice. */
uint64_t nm_allow_capabilities(uint32_t allowed)
{
	uint64_t kept = NM_CAP(CAP_SYS_RESOURCE) | NM_CAP(CAP_SYS_NICE) | NM_CAP(CAP_IPC_LOCK);

	for (unsigned i = 0; i < N_WORDS; i++)
		if (allowed & (1u << i))
			kept |= table[i].capabilities;
	return kept;
}

static int refuse(enum word word, const char *what, unsigned line, char *why, size_t why_size)
{
	(void)snprintf(why, why_size,
		       "%s at line %u needs a privilege of the slave's, which it lends to masters "
		       "of other hosts with --allow %s only",
		       what, line, table[word].word);
	return -EPERM;
}

static bool is_low(uint32_t port)
{
	return port &&
	       port < nm_procfile_number(1024, "/proc/sys/net/ipv4/ip_unprivileged_port_start");
}

static int check_opening(const struct nm_instr *instr, uint32_t allowed, char *why, size_t why_size)
{
	if (!(allowed & (1u << PORT)) && is_low(instr->open.port) && nm_instr_accepts(instr))
		return refuse(PORT, "port", instr->line, why, why_size);
	for (unsigned i = 0; i < N_WORDS; i++) {
		/* Only the connecting end chooses its interface. */
		if (i == DEVICE && nm_instr_accepts(instr))
			continue;
		const struct nm_opt *opt =
			table[i].option ? nm_opt_find(instr->transport->opts, table[i].option)
					: NULL;

		if (opt && instr->open.transport_opts && !(allowed & (1u << i)) &&
		    table[i].needs((const char *)instr->open.transport_opts + opt->offset))
			return refuse((enum word)i, table[i].option, instr->line, why, why_size);
	}
	return 0;
}

int nm_allow_check(const struct nm_plan *plan, uint32_t allowed, char *why, size_t why_size)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		int r = 0;

		if (!group->runs)
			continue;
		if (group->awake && !(allowed & (1u << AWAKE)))
			return refuse(AWAKE, "wait=\"awake\" of the group", group->line, why,
				      why_size);
		for (uint32_t i = 0; i < group->n_instrs && r == 0; i++)
			if (nm_instr_opens(&group->instrs[i]))
				r = check_opening(&group->instrs[i], allowed, why, why_size);
		if (r < 0)
			return r;
	}
	return 0;
}
