/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of an interface's own vectors (MSI), from sysfs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfile.h"
#include "host/usage_priv.h"

#define MOST 4097 /* bytes of a file of sysfs, and its end */

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* "0,14681": of each CPU. */
static int read_count(const char *sys, const char *irq, uint64_t *add)
{
	char path[PATH_MAX], text[MOST], *at = text;

	(void)snprintf(path, sizeof path, "%s/kernel/irq/%.16s/per_cpu_count", sys, irq);
	long n = nm_procfile_read(path, text, sizeof text);

	if (n <= 0)
		return n < 0 ? (int)n : -EINVAL;
	for (;; at++) {
		char *end;

		*add += strtoull(at, &end, 10);
		if (end == at || (*end && *end != ',' && *end != '\n'))
			return -EINVAL;
		if (*end != ',')
			return 0;
		at = end;
	}
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
	uint64_t interrupts = 0, vectors = 0;
	const struct dirent *entry;
	int r = 0;

	(void)snprintf(path, sizeof path, "%s/class/net/%s/device", sys, nic->name);
	if (!realpath(path, device) || has_other_interfaces(device))
		return;
	DIR *folder = open_vectors(device);

	while (folder && r == 0 && (entry = readdir(folder))) {
		if (!is_number(entry->d_name))
			continue;
		r = read_count(sys, entry->d_name, &interrupts);
		vectors++;
	}
	if (folder)
		(void)closedir(folder);
	if (r == 0 && vectors) {
		nic->interrupts = interrupts;
		nic->vectors = vectors;
	}
}

void nm_usage_read_vectors(struct nm_usage *usage)
{
	for (size_t i = 0; i < usage->n_nics; i++)
		host__read_vectors("/sys", &usage->nics[i]);
}
