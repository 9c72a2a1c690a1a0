// Loaded into a program by LD_PRELOAD: breaks what it writes to its database. Nothing is called by name.
#pragma once
