// <spawn.h> shows this one to those who define _GNU_SOURCE, which Swift's Glibc does not. In glibc since 2.34.
// The first is a posix_spawn_file_actions_t *; with <spawn.h> here, its types would be this module's, not Glibc's.
#pragma once

int posix_spawn_file_actions_addclosefrom_np(void *actions, int from);
