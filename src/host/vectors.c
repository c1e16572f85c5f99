/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of an interface's own vectors (MSI), from sysfs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "host/procfile.h"
#include "host/usage_priv.h"

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* "0,14681", of each CPU, and the end of the line: of very many CPUs the kernel writes a page, and
 * leaves the rest out. */
static int add_counts(const char *text, uint64_t *add)
{
	for (;; text++) {
		char *end;

		*add += strtoull(text, &end, 10);
		if (end == text || (*end != ',' && *end != '\n'))
			return -EINVAL;
		if (*end == '\n')
			return 0;
		text = end;
	}
}

static int read_count(const char *sys, const char *irq, uint64_t *add)
{
	char path[PATH_MAX];
	size_t size = (size_t)sysconf(_SC_PAGESIZE) + 1;
	char *text = malloc(size);
	int r = text ? 0 : -ENOMEM;

	(void)snprintf(path, sizeof path, "%s/kernel/irq/%.16s/per_cpu_count", sys, irq);
	if (r == 0 && nm_procfile_read(path, text, size) <= 0)
		r = -EINVAL;
	if (r == 0)
		r = add_counts(text, add);
	free(text);
	return r;
}

/* A function of PCI with several interfaces does not say which vector is whose. */
static bool has_other_interfaces(const char *device)
{
	char path[PATH_MAX];
	size_t count = 0;

	if (snprintf(path, sizeof path, "%s/net", device) >= (int)sizeof path)
		return true;
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		count += *entry->d_name != '.';
	if (folder)
		(void)closedir(folder);
	return count != 1;
}

/* The vectors of a device; those of a virtio device are its parent's, the function of PCI. */
static DIR *open_vectors(const char *device)
{
	static const char *const places[] = {"msi_irqs", "../msi_irqs"};
	const char *last = strrchr(device, '/');
	size_t tries = last && strncmp(last, "/virtio", strlen("/virtio")) == 0 ? 2 : 1;
	DIR *folder = NULL;

	for (size_t i = 0; !folder && i < tries; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof path, "%s/%s", device, places[i]) < (int)sizeof path)
			folder = opendir(path);
	}
	return folder;
}

void host__read_vectors(const char *sys, struct nm_nic *nic)
{
	char path[PATH_MAX], device[PATH_MAX];
	uint64_t interrupts = 0, vectors = 0, which = 0;
	const struct dirent *entry;
	int r = 0;

	(void)snprintf(path, sizeof path, "%s/class/net/%s/device", sys, nic->name);
	if (!realpath(path, device) || !host__is_nic_in_sysfs(sys, nic->name, &nic->id) ||
	    has_other_interfaces(device))
		return;
	DIR *folder = open_vectors(device);

	while (folder && r == 0 && (entry = readdir(folder))) {
		if (!is_number(entry->d_name))
			continue;
		r = read_count(sys, entry->d_name, &interrupts);
		which += nm_rng(0, strtoull(entry->d_name, NULL, 10));
		vectors++;
	}
	if (folder)
		(void)closedir(folder);
	if (r == 0 && vectors) {
		nic->interrupts = interrupts;
		nic->vectors = vectors;
		nic->which = which;
	}
}

static bool has_moved(const struct nm_nic *nic, const struct nm_usage *before)
{
	const struct nm_nic *old = host__find_nic(before, nic->name);

	return old && old->vectors &&
	       (old->rx_packets != nic->rx_packets || old->tx_packets != nic->tx_packets);
}

void nm_usage_read_vectors(struct nm_usage *usage, const struct nm_usage *before)
{
	for (size_t i = 0; i < usage->n_nics; i++) {
		struct nm_nic *nic = &usage->nics[i];

		if (before ? has_moved(nic, before) : nic->id.is_up)
			host__read_vectors("/sys", nic);
	}
}
