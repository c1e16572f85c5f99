/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of files that somebody else names. */
#include "host/file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"

static char top[32];
static struct nm_file_root root;
static char root_path[64];

static char *at(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", top, name);
	return path;
}

static void make(const char *name, size_t size)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "inside", 6), 6);
	if (size > 6)
		ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	(void)close(fd);
}

static void set_up(void)
{
	(void)snprintf(top, sizeof top, "/tmp/nm-file-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(root_path, sizeof root_path, "%s/root/", top);
	ck_assert_int_eq(mkdir(at("root"), 0700), 0);
	ck_assert_int_eq(mkdir(at("root/sub"), 0700), 0);
	make("outside", 6);
	make("root/file", 6);
	make("root/sub/file", 6);
	make("root/most", NM_FILE_MAX);
	make("root/more", NM_FILE_MAX + 1);
	ck_assert_int_eq(mkfifo(at("root/pipe"), 0600), 0);
	ck_assert_int_eq(symlink("file", at("root/link")), 0);
	ck_assert_int_eq(symlink("sub", at("root/sublink")), 0);
	ck_assert_int_eq(symlink("/", at("root/slash")), 0);
	ck_assert_int_eq(nm_file_root_open(&root, root_path), 0);
}

static void tear_down(void)
{
	static const char *const files[] = {"outside",	 "root/file",	 "root/sub/file",
					    "root/most", "root/more",	 "root/pipe",
					    "root/link", "root/sublink", "root/slash"};

	nm_file_root_close(&root);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		(void)unlink(at(files[i]));
	(void)rmdir(at("root/sub"));
	(void)rmdir(at("root"));
	(void)rmdir(top);
}

static int read_below(const char *path, const char *phrase)
{
	struct nm_file file = {.data = NULL};
	char why[160] = "";
	int r = nm_file_read(&root, path, &file, why, sizeof why);

	if (r == 0)
		ck_assert_str_eq(file.data, "inside");
	ck_assert_msg(phrase ? strstr(why, phrase) != NULL : !*why, "%s: %s", path, why);
	nm_file_fini(&file);
	return r;
}

START_TEST(what_lies_below_is_read)
{
	ck_assert_int_eq(read_below("file", NULL), 0);
	ck_assert_int_eq(read_below("./sub//file", NULL), 0);
	ck_assert_int_eq(read_below(at("root/file"), NULL), 0);
	ck_assert_int_eq(read_below(at("root//sub/file"), NULL), 0);
}
END_TEST

START_TEST(nothing_leads_out)
{
	const char *const forbids = "a symbolic link";

	ck_assert_int_eq(read_below(at("outside"), "not below"), -EXDEV);
	ck_assert_int_eq(read_below("/etc/passwd", "--file-root"), -EXDEV);
	ck_assert_int_eq(read_below("../outside", "not below"), -EXDEV);
	ck_assert_int_eq(read_below("sub/../file", "not below"), -EXDEV);
	ck_assert_int_eq(read_below("link", forbids), -ELOOP);
	ck_assert_int_eq(read_below("sublink/file", forbids), -ELOOP);
	ck_assert_int_eq(read_below("slash/etc/passwd", forbids), -ELOOP);
	ck_assert_int_eq(read_below("none", "No such file"), -ENOENT);
	ck_assert_int_eq(read_below("", "No such file"), -ENOENT);
	ck_assert_int_eq(read_below("file/file", "Not a directory"), -ENOTDIR);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	ck_assert_int_eq(read_below("pipe", "not a regular file"), -EINVAL);
	ck_assert_int_eq(read_below("sub", "not a regular file"), -EINVAL);
}
END_TEST

START_TEST(there_is_an_end)
{
	struct nm_file file;
	char why[160];

	ck_assert_int_eq(nm_file_read(NULL, at("root/most"), &file, why, sizeof why), 0);
	ck_assert_uint_eq(file.size, NM_FILE_MAX);
	nm_file_fini(&file);
	ck_assert_int_eq(read_below("more", "larger than 16 MiB"), -EFBIG);
}
END_TEST

START_TEST(without_a_folder_nothing_is_read)
{
	struct nm_file_root none;
	struct nm_file file;
	char why[160];

	ck_assert_int_eq(nm_file_root_open(&none, NULL), 0);
	ck_assert_int_eq(nm_file_read(&none, "file", &file, why, sizeof why), -EPERM);
	ck_assert_ptr_nonnull(strstr(why, "--file-root DIR"));
	ck_assert_int_eq(nm_file_root_open(&none, at("root/file")), -ENOTDIR);
}
END_TEST

START_TEST(own_files_are_read_wherever_they_lie)
{
	struct nm_file file;
	char why[160];

	ck_assert_int_eq(nm_file_read(NULL, at("root/link"), &file, why, sizeof why), 0);
	ck_assert_str_eq(file.data, "inside");
	nm_file_fini(&file);
	ck_assert_int_eq(nm_file_read(NULL, at("root/pipe"), &file, why, sizeof why), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file");
	TCase *tcase = tcase_create("file");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, what_lies_below_is_read);
	tcase_add_test(tcase, nothing_leads_out);
	tcase_add_test(tcase, only_regular_files_are_opened);
	tcase_add_test(tcase, there_is_an_end);
	tcase_add_test(tcase, without_a_folder_nothing_is_read);
	tcase_add_test(tcase, own_files_are_read_wherever_they_lie);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
