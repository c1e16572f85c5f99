/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs at the same time, each on a thread of the library's. The one without an end is stopped
 * when the other is done.
 *
 *	cc embed-two.c -o embed-two $(pkg-config --cflags --libs netmodel)
 *	./embed-two */
#include <inttypes.h>
#include <netmodel.h>
#include <stdio.h>
#include <string.h>

static const char profile[] =
	"<profile name=\"pair\">\n"
	"  <param name=\"size\" type=\"size\" default=\"1\" help=\"of request and response\"/>\n"
	"  <param name=\"length\" type=\"duration\" default=\"1s\" help=\"how long\"/>\n"
	"  <group name=\"client\" nthreads=\"1\" nflows=\"4\">\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"connect\" options=\"remotehost=local protocol=tcp nodelay\"/>\n"
	"    </transaction>\n"
	"    <transaction name=\"rr\" duration=\"$length\">\n"
	"      <flowop type=\"write\" options=\"size=$size\"/>\n"
	"      <flowop type=\"read\" options=\"size=$size\"/>\n"
	"    </transaction>\n"
	"  </group>\n"
	"</profile>\n";

struct side {
	const char *name, *size, *length;
	struct netmodel *nm;
};

/* The lines of both come from two threads: each is written in one call. */
static void on_log(void *arg, enum netmodel_level level, const char *line)
{
	const struct side *side = arg;

	if (level != NETMODEL_INFO)
		fprintf(stderr, "%s: %s\n", side->name, line);
}

static int start(struct side *side)
{
	side->nm = netmodel_new();
	if (!side->nm)
		return -1;
	netmodel_on_log(side->nm, on_log, side);
	netmodel_set_param(side->nm, "size", side->size);
	netmodel_set_param(side->nm, "length", side->length);
	netmodel_load_text(side->nm, side->name, profile, strlen(profile));
	return netmodel_start(side->nm);
}

static int finish(struct side *side)
{
	enum netmodel_status status = NETMODEL_INTERNAL;

	netmodel_wait(side->nm, -1, &status);
	printf("%s: status %d, %s, %" PRIu64 " transactions, %" PRIu64 " bytes sent\n", side->name,
	       (int)status, netmodel_complete(side->nm) == 1 ? "complete" : "incomplete",
	       netmodel_transactions(side->nm), netmodel_bytes_sent(side->nm));
	netmodel_free(side->nm);
	return status;
}

int main(void)
{
	struct side bounded = {.name = "bounded", .size = "1", .length = "1s"};
	struct side endless = {.name = "endless", .size = "1k", .length = "3600s"};

	if (start(&bounded) != 0 || start(&endless) != 0)
		return 1;
	int first = finish(&bounded);
	netmodel_stop(endless.nm);
	int second = finish(&endless);
	return first == NETMODEL_COMPLETE && second == NETMODEL_INTERRUPTED ? 0 : 1;
}
