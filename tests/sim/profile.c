/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles by their number, and how they are made smaller. */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/tree.h"

#define OP(name, options)	"<flowop type=\"" name "\" options=\"" options "\"/>"
#define ONCE(body)		"<transaction iterations=\"1\">" body "</transaction>"
#define TIMES(n, body)		"<transaction iterations=\"" #n "\">" body "</transaction>"
#define FOR(time, more, body)	"<transaction duration=\"" time "\" " more ">" body "</transaction>"
#define GROUP(attributes, body) "<profile><group " attributes ">" body "</group></profile>"
#define CONNECT			OP("connect", "remotehost=h")
#define ASK			OP("write", "size=10") OP("read", "size=20")
#define CLOSE			OP("disconnect", "")
#define RESET			OP("disconnect", "close=rst")

#define FIRST_SLAVE "10.0.0.2"
#define OTHER_SLAVE "10.0.0.3"
#define ASKS(host)                                                                                 \
	"<group nflows=\"2\">"                                                                     \
	"<transaction iterations=\"1\"><flowop type=\"connect\" options=\"remotehost=" host        \
	"\"/></transaction>"                                                                       \
	"<transaction duration=\"30ms\"><flowop type=\"write\" options=\"size=10\"/>"              \
	"<flowop type=\"read\" options=\"size=20\"/></transaction>"                                \
	"<transaction iterations=\"1\"><flowop type=\"disconnect\"/></transaction></group>"

#define OPEN(arrivals)                                                                             \
	GROUP("nflows=\"3\"", ONCE(OP("connect", "remotehost=" FIRST_SLAVE))                       \
				      FOR("30ms", arrivals, ASK) ONCE(CLOSE))

#define ENDS 20

const struct sim_profile sim_profiles[] = {
	{.text = GROUP("", ONCE(CONNECT) TIMES(30, ASK) ONCE(CLOSE))},
	{.text = GROUP("", ONCE(CONNECT) FOR("20ms", "", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"5\"", ONCE(CONNECT) FOR("20ms", "", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"3\" edge_trigger=\"no\"",
		       ONCE(CONNECT) FOR("20ms", "", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"4\"",
		       ONCE(CONNECT) FOR("20ms", "rate=\"5000\"", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT) FOR("20ms", "pipeline=\"4\"", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT) FOR("20ms", "", OP("write", "size=100k")) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT) FOR("20ms", "", OP("write", "size=10 rsize=5k")) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT) FOR("20ms", "", OP("read", "size=10k")) ONCE(CLOSE))},
	{.text = GROUP("", ONCE(CONNECT) TIMES(20, ASK OP("think", "duration=1ms")) ONCE(CLOSE))},
	{.text = GROUP("", ONCE(CONNECT) TIMES(3, OP("write", "size=10 count=3") OP(
							  "read", "size=5 count=2")) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"70\"", ONCE(CONNECT) TIMES(3, ASK) ONCE(CLOSE))},
	{.text = GROUP("", TIMES(20, CONNECT ASK RESET))},
	{.text = GROUP("nflows=\"4\"", FOR("20ms", "", CONNECT ASK RESET))},
	{.text = GROUP("nflows=\"4\"", TIMES(5, CONNECT ASK CLOSE))},
	{.text = GROUP("nflows=\"4\" edge_trigger=\"no\"", TIMES(5, CONNECT ASK CLOSE))},
	{.text = GROUP("nflows=\"4\"", FOR("20ms", "rate=\"3000\"", CONNECT ASK RESET))},
	{.text = GROUP("nflows=\"4\"",
		       ONCE(CONNECT) FOR("20ms", "arrivals=\"poisson(5k)\"", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"", FOR("20ms", "arrivals=\"const(10k)\"", CONNECT ASK RESET))},
	{.text = GROUP("nflows=\"2\"",
		       TIMES(5, OP("connect", "remotehost=h protocol=null") ASK CLOSE))},
	{.stock = "tcp_rr",
	 .n_slaves = 1,
	 .defines = {{"host", FIRST_SLAVE}, {"test_length", "30ms"}}},
	{.stock = "tcp_stream",
	 .n_slaves = 1,
	 .defines = {{"host", FIRST_SLAVE}, {"test_length", "30ms"}}},
	{.stock = "tcp_crr",
	 .n_slaves = 1,
	 .defines = {{"host", FIRST_SLAVE}, {"test_length", "30ms"}, {"num_flows", "3"}}},
	{.stock = "udp_rr",
	 .n_slaves = 1,
	 .datagrams = true,
	 .defines = {{"host", FIRST_SLAVE},
		     {"test_length", "30ms"},
		     {"num_flows", "3"},
		     {"timeout", "5ms"},
		     {"request_size", "64"},
		     {"response_size", "64"}}},
	{.text = "<profile>" ASKS(FIRST_SLAVE) ASKS(OTHER_SLAVE) "</profile>", .n_slaves = 2},
	{.stock = "udp_rr",
	 .n_slaves = 1,
	 .datagrams = true,
	 .defines = {{"host", FIRST_SLAVE},
		     {"test_length", "30ms"},
		     {"num_flows", "3"},
		     {"timeout", "1s"},
		     {"request_size", "64"},
		     {"response_size", "64"},
		     {"arrivals", "poisson(1k/s)"}}},
	{.text = OPEN("arrivals=\"poisson(20k/s)\" queue=\"4\""), .n_slaves = 1},
	{.text = OPEN("arrivals=\"const(20k/s)\" late=\"drop(1ms)\""), .n_slaves = 1},
	{.stock = "memcache",
	 .n_slaves = 1,
	 .defines = {{"host", FIRST_SLAVE},
		     {"test_length", "30ms"},
		     {"num_flows", "3"},
		     {"keys", "20"},
		     {"pipeline", "4"},
		     {"arrivals", "poisson(20k/s)"}}},
};
const size_t sim_n_profiles = sizeof sim_profiles / sizeof *sim_profiles;
const size_t sim_n_ends = ENDS;

/* --- smaller --- */

static bool may_go(const struct nm_node *node)
{
	return strcmp(node->name, "group") == 0 || strcmp(node->name, "transaction") == 0 ||
	       strcmp(node->name, "flowop") == 0;
}

static unsigned count(const struct nm_node *node)
{
	unsigned n = may_go(node);

	for (size_t i = 0; i < node->n_children; i++)
		n += count(node->children[i]);
	return n;
}

/* Gives an attribute that the element has another number; 0: it keeps its own. */
static int change(struct nm_node *node, const char *name, uint64_t number, const char *unit)
{
	char text[32];
	const char *has = nm_node_attr(node, name);

	if (!number || !has || strcmp(has, "1") == 0)
		return 0;
	(void)snprintf(text, sizeof text, "%llu%s", (unsigned long long)number, unit);
	return nm_node_set_attr(node, name, text);
}

static void take_out(struct nm_node *node, size_t at)
{
	(void)nm_node_free(node->children[at]);
	memmove(node->children + at, node->children + at + 1,
		(--node->n_children - at) * sizeof *node->children);
}

/* `number`: of the next element that may go. 0, or -errno. */
static int make_smaller(struct nm_node *node, const struct sim_choices *choices, unsigned *number)
{
	int error = change(node, "nflows", choices->flows, "");

	if (!error)
		error = change(node, "duration", choices->time_ms, "ms");
	if (!error)
		error = change(node, "iterations", choices->passes, "");
	for (size_t i = 0; i < node->n_children && !error; i++) {
		struct nm_node *child = node->children[i];

		if (may_go(child) && *number < 64 && choices->without >> *number & 1) {
			*number += count(child);
			take_out(node, i--);
			continue;
		}
		*number += may_go(child);
		error = make_smaller(child, choices, number);
	}
	return error;
}

static char *text_of(size_t profile, struct nm_diags *diags)
{
	char path[512];
	size_t length;

	if (!sim_profiles[profile].stock)
		return strdup(sim_profiles[profile].text);
	(void)snprintf(path, sizeof path, SIM_PROFILES "/%s.xml", sim_profiles[profile].stock);
	return nm_profile_slurp(path, &length, diags);
}

static struct nm_node *tree_of(size_t profile, struct nm_diags *diags)
{
	char *text = text_of(profile, diags);
	struct nm_node *root = text ? nm_profile_parse("sim", text, strlen(text), diags) : NULL;

	free(text);
	return root;
}

unsigned sim_profile_elements(const struct sim_choices *choices)
{
	struct nm_diags diags = {.count = 0};
	struct nm_node *root = tree_of(choices->profile, &diags);
	unsigned n = root ? count(root) : 0;

	(void)nm_node_free(root);
	nm_diags_fini(&diags);
	return n < 64 ? n : 64;
}

static int copy_text(const struct sim_choices *choices, struct nm_loaded *ret,
		     struct nm_diags *diags)
{
	struct nm_node *root = tree_of(choices->profile, diags);
	unsigned number = 0;
	char *text = NULL;
	int error = root ? make_smaller(root, choices, &number) : -EINVAL;

	if (!error)
		text = nm_profile_print(root);
	if (!error)
		error = text ? nm_loaded_copy(ret, "sim", text, strlen(text), diags) : -ENOMEM;
	free(text);
	(void)nm_node_free(root);
	return error;
}

int sim_profile_load(const struct sim_choices *choices, struct nm_loaded *ret,
		     struct nm_diags *diags)
{
	const struct sim_profile *profile = &sim_profiles[choices->profile];
	struct nm_define defines[8];
	struct nm_param_values values = {.defines = defines};
	int error = copy_text(choices, ret, diags);

	for (size_t i = 0; i < 8 && profile->defines[i][0]; i++)
		defines[values.n_defines++] =
			(struct nm_define){.name = (char *)(uintptr_t)profile->defines[i][0],
					   .value = (char *)(uintptr_t)profile->defines[i][1]};
	return error ? error : nm_loaded_compile(ret, &values, diags);
}
