// Loaded into a program by LD_PRELOAD: shifts its wall clock and no other clock. Nothing is called by name.
#pragma once
