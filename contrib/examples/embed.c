/* SPDX-License-Identifier: Apache-2.0 */
/* Measures request and response with a profile of its own: a line for each interval, and the
 * result.
 *
 *	cc embed.c -o embed $(pkg-config --cflags --libs netmodel)
 *	./embed [FLOWS [HOST [PORT]]] */
#include <inttypes.h>
#include <netmodel.h>
#include <stdio.h>
#include <string.h>

static const char profile[] =
	"<profile name=\"embedded\">\n"
	"  <param name=\"host\" type=\"host\" default=\"local\" help=\"the server\"/>\n"
	"  <param name=\"flows\" type=\"count\" default=\"1\" help=\"connections\"/>\n"
	"  <group name=\"client\" nthreads=\"1\" nflows=\"$flows\">\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"connect\" options=\"remotehost=$host protocol=tcp nodelay\"/>\n"
	"    </transaction>\n"
	"    <transaction name=\"rr\" duration=\"1s\">\n"
	"      <flowop type=\"write\" options=\"size=1\"/>\n"
	"      <flowop type=\"read\" options=\"size=1\"/>\n"
	"    </transaction>\n"
	"    <transaction iterations=\"1\">\n"
	"      <flowop type=\"disconnect\"/>\n"
	"    </transaction>\n"
	"  </group>\n"
	"</profile>\n";

static void on_interval(void *arg, const struct netmodel_interval *interval)
{
	(void)arg;
	printf("%.2f s to %.2f s: %" PRIu64 " transactions\n", interval->from_s, interval->to_s,
	       interval->transactions);
}

static void on_log(void *arg, enum netmodel_level level, const char *line)
{
	(void)arg;
	if (level != NETMODEL_INFO)
		fprintf(stderr, "%s\n", line);
}

int main(int argc, char *argv[])
{
	static const char *const names[] = {"flows", "host"};
	struct netmodel *nm = netmodel_new();
	int status = NETMODEL_INTERNAL;

	if (!nm)
		return status;
	netmodel_on_interval(nm, on_interval, NULL);
	netmodel_on_log(nm, on_log, NULL);
	netmodel_load_text(nm, "embedded.xml", profile, strlen(profile));
	netmodel_set_option(nm, "interval", "250ms");
	for (int i = 1; i < argc && i <= 2; i++)
		netmodel_set_param(nm, names[i - 1], argv[i]);
	if (argc <= 3 || netmodel_set_option(nm, "port", argv[3]) == 0)
		status = netmodel_run(nm);
	if (netmodel_complete(nm) >= 0)
		printf("%" PRIu64 " transactions in %.2f s, %.0f/s, p99 %.1f us%s\n",
		       netmodel_transactions(nm), netmodel_seconds(nm),
		       netmodel_transactions_per_s(nm), netmodel_latency_percentile_s(nm, 99) * 1e6,
		       netmodel_complete(nm) ? "" : " (incomplete)");
	netmodel_free(nm);
	return status;
}
