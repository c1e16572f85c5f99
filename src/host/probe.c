/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a machine is from /proc, /sys and the drivers of its interfaces. */
#include "host/probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cpus.h"
#include "host/procfile.h"
#include "host/usage_priv.h"

/* --- interfaces --- */

/* A number of /sys/class/net; -1: not known. */
static int64_t read_number(const char *name, const char *what)
{
	char text[32], *end;

	nm_procfile_line(text, sizeof text, "/sys/class/net/%s/%s", name, what);
	long long value = strtoll(text, &end, 10);

	return end == text || value < 0 ? -1 : value;
}

/* What sysfs has, where it shows this network namespace. */
static void read_sysfs(struct nm_probe_interface *interface, const struct sockaddr_ll *address)
{
	struct nm_nic_id id = {.index = (unsigned)address->sll_ifindex,
			       .address_size = address->sll_halen};

	if (id.address_size > sizeof id.address)
		return;
	/* The array of the header is shorter than some addresses. */
	memcpy(id.address, (const char *)address + offsetof(struct sockaddr_ll, sll_addr),
	       id.address_size);
	if (!host__is_nic_in_sysfs("/sys", interface->name, &id))
		return;
	interface->speed_mbps = read_number(interface->name, "speed");
	interface->node = read_number(interface->name, "device/numa_node");
}

static int64_t read_mtu(const char *name, int fd)
{
	struct ifreq ask = {.ifr_mtu = -1};

	(void)snprintf(ask.ifr_name, sizeof ask.ifr_name, "%.15s", name);
	return fd < 0 || ioctl(fd, SIOCGIFMTU, &ask) < 0 ? -1 : ask.ifr_mtu;
}

static void read_driver(struct nm_probe_interface *interface, int fd)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq ask = {.ifr_data = (void *)&info};

	(void)snprintf(ask.ifr_name, sizeof ask.ifr_name, "%.15s", interface->name);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &ask) < 0)
		return;
	(void)snprintf(interface->driver, sizeof interface->driver, "%.31s", info.driver);
	(void)snprintf(interface->firmware, sizeof interface->firmware, "%.31s", info.fw_version);
	(void)snprintf(interface->bus, sizeof interface->bus, "%.31s", info.bus_info);
}

static struct nm_probe_interface *find_interface(struct nm_probe *probe, const char *name, int fd)
{
	for (size_t i = 0; i < probe->n_interfaces; i++)
		if (strcmp(probe->interfaces[i].name, name) == 0)
			return &probe->interfaces[i];
	if (probe->n_interfaces == NM_PROBE_INTERFACES)
		return NULL;
	struct nm_probe_interface *found = &probe->interfaces[probe->n_interfaces++];

	(void)snprintf(found->name, sizeof found->name, "%s", name);
	found->mtu = read_mtu(name, fd);
	found->speed_mbps = found->node = -1;
	read_driver(found, fd);
	return found;
}

static void add_address(struct nm_probe_interface *interface, const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const void *bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;

	if (address->sa_family != AF_INET &&
	    (address->sa_family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)))
		return;
	if (address->sa_family == AF_INET6)
		bytes = &v6->sin6_addr;
	if (interface->n_addresses < NM_PROBE_ADDRESSES &&
	    inet_ntop(address->sa_family, bytes, interface->addresses[interface->n_addresses],
		      sizeof *interface->addresses))
		interface->n_addresses++;
}

static void read_interfaces(struct nm_probe *probe)
{
	struct ifaddrs *first;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (getifaddrs(&first) < 0)
		first = NULL;
	for (const struct ifaddrs *one = first; one; one = one->ifa_next) {
		struct nm_probe_interface *interface = find_interface(probe, one->ifa_name, fd);

		if (!interface || !one->ifa_addr)
			continue;
		if (one->ifa_addr->sa_family == AF_PACKET)
			read_sysfs(interface, (const void *)one->ifa_addr);
		else
			add_address(interface, one->ifa_addr);
	}
	freeifaddrs(first);
	if (fd >= 0)
		(void)close(fd);
}

/* --- the rest --- */

static void read_nodes(struct nm_probe *probe)
{
	for (unsigned node = 0; node < NM_PROBE_NODES; node++) {
		struct nm_probe_node *next = &probe->nodes[probe->n_nodes];

		nm_procfile_line(next->cpus, sizeof next->cpus, NM_CPU_NODES "/node%u/cpulist",
				 node);
		next->node = node;
		probe->n_nodes += *next->cpus != '\0'; /* a node may have memory alone */
	}
}

static bool finds_process(const char *name)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	char comm[32];
	bool found = false;

	while (processes && !found && (entry = readdir(processes))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		nm_procfile_line(comm, sizeof comm, "/proc/%s/comm", entry->d_name);
		found = strcmp(comm, name) == 0;
	}
	if (processes)
		(void)closedir(processes);
	return found;
}

static void read_microcode(char *buf, size_t size)
{
	char text[8192];

	*buf = '\0';
	if (nm_procfile_read("/proc/cpuinfo", text, sizeof text) < 0)
		return;
	const char *at = strstr(text, "\nmicrocode");

	at = at ? strchr(at, ':') : NULL;
	if (at)
		(void)snprintf(buf, size, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
}

void nm_probe_read(struct nm_probe *ret_probe)
{
	memset(ret_probe, 0, sizeof *ret_probe);
	nm_procfile_line(ret_probe->command_line, sizeof ret_probe->command_line, "/proc/cmdline");
	read_microcode(ret_probe->microcode, sizeof ret_probe->microcode);
	nm_procfile_line(ret_probe->machine_id, sizeof ret_probe->machine_id, "/etc/machine-id");
	ret_probe->irqbalance = finds_process("irqbalance");
	read_interfaces(ret_probe);
	read_nodes(ret_probe);
}
